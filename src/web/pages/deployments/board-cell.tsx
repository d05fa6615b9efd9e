import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ArchivedBadge } from '../../parts/archive/archived.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { Menu, type MenuItem } from '../../parts/menu/menu.tsx'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { Ago } from '../../parts/time/ago.tsx'
import { places } from '../../shell/places.ts'
import styles from './deployments.module.css'
import type { BoardEnvironment, BoardRow, Cell } from './use-board.ts'

export interface BoardCellProps {
  readonly row: BoardRow
  readonly environment: string
  readonly environments: readonly BoardEnvironment[]
  /** The keys act on it. */
  readonly isAt: boolean
  readonly pick: () => void
  readonly deploy: (to: string, what: End | undefined) => void
  readonly takeDown: () => void
}

/** So the browser tells what is dragged: only cells of the same row take it. */
const DRAGGED = 'application/x-branchpoint-cell'

/** What one environment runs of one artifact: version, age, by whom, and how far behind; with what can be done with it. */
export function BoardCell({ row, environment, environments, isAt, pick, deploy, takeDown }: BoardCellProps) {
  const [isOver, setOver] = useState(false)
  const cell = row.cells.get(environment)
  const isArchived = environments.some((it) => it.slug === environment && it.isArchived)
  // Types are all that can be seen of what is dragged before it is dropped; they are lower case.
  const type = `${DRAGGED}-${[...new TextEncoder().encode(row.key)].map((it) => it.toString(16)).join('')}`
  return (
    <td
      data-at={isAt || undefined}
      data-over={isOver || undefined}
      onClick={pick}
      onFocus={pick}
      onDragOver={(event) => {
        if (isArchived || !event.dataTransfer.types.includes(type)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false)
        const from = event.dataTransfer.getData(type)
        if (from === '' || from === environment) return
        event.preventDefault()
        deploy(environment, { kind: 'environment', slug: from })
      }}
    >
      <div
        className={styles.cell}
        draggable={cell?.revision !== undefined}
        onDragStart={(event) => {
          event.dataTransfer.setData(type, environment)
          event.dataTransfer.effectAllowed = 'copy'
        }}
      >
        {cell ? <Running cell={cell} /> : <span className={styles.none}>–</span>}
        <Menu
          label={<span className="visually-hidden">{`${row.artifact} in ${environment}`}</span>}
          title={`Deploy ${row.artifact} to or from ${environment}`}
          items={itemsOf(row, environment, environments, deploy, takeDown)}
        />
      </div>
    </td>
  )
}

function Running({
  cell: { artifact, variant, revision, archived, latest, behind, since, problem, environment },
}: {
  readonly cell: Cell
}) {
  if (!revision || !artifact) {
    return (
      <span className={styles.problem} title={problem}>
        leads nowhere
      </span>
    )
  }
  const isPrompt = artifact.kind === 'workflow'
  return (
    <span className={styles.running}>
      <span>
        {isPrompt ? (
          <Link to={places.revision(artifact.slug, revision.slug)} title={revision.subject} draggable={false}>
            <b>v{revision.version}</b>
          </Link>
        ) : (
          <b>v{revision.version}</b>
        )}
        {variant && variant.slug !== artifact.slug && <span className={styles.variant}>{variant.slug}</span>}
        {archived && (
          <span className={styles.variant} title={`The ${WORDS[archived]} is archived. It goes on running.`}>
            <ArchivedBadge />
          </span>
        )}
        {behind !== undefined && behind > 0 && latest && isPrompt && (
          <Link
            to={places.compare(artifact.slug, `e:${environment.slug}`, `v:${variant?.slug ?? artifact.slug}`)}
            className={styles.behind}
            title={`See what changed up to v${latest.version}`}
            draggable={false}
          >
            {behind === 1 ? '1 version behind' : `${behind.toLocaleString()} versions behind`}
          </Link>
        )}
      </span>
      <span className={styles.since} title={since.message}>
        <Ago date={since.date} /> · <bdi>{authorName(since.author)}</bdi>
      </span>
    </span>
  )
}

/** What is archived of what runs, in a person's words. */
const WORDS = { artifact: 'prompt', variant: 'variant', revision: 'version' }

function itemsOf(
  row: BoardRow,
  environment: string,
  environments: readonly BoardEnvironment[],
  deploy: BoardCellProps['deploy'],
  takeDown: () => void,
): readonly MenuItem[] {
  const cell = row.cells.get(environment)
  const refusal = environments.some((it) => it.slug === environment && it.isArchived)
    ? `${environment} is archived: bring it back first.`
    : undefined
  const archived = cell?.archived && `The ${WORDS[cell.archived]} is archived: bring it back first.`
  const others = environments.filter(({ slug }) => slug !== environment)
  const from = (slug: string): End => ({ kind: 'environment', slug })
  if (!cell?.revision) {
    return [
      ...others
        .filter(({ slug }) => row.cells.get(slug)?.revision)
        .map(({ slug }) => ({
          label: `Deploy what runs in ${slug}`,
          refusal,
          run: () => deploy(environment, from(slug)),
        })),
      { label: `Deploy a version to ${environment}…`, refusal, run: () => deploy(environment, undefined) },
      ...(cell ? [{ label: `Take it down from ${environment}…`, refusal, run: takeDown }] : []),
    ]
  }
  const { version } = cell.revision
  const { variant, behind = 0, latest } = cell
  return [
    ...others
      .filter((it) => !it.isArchived)
      .map(({ slug }) => ({
        label: `Promote v${version} to ${slug}`,
        refusal: archived,
        run: () => deploy(slug, from(environment)),
      })),
    ...(behind > 0 && variant && latest
      ? [
          {
            label: `Update to v${latest.version}, the head of ${variant.slug}`,
            refusal,
            run: () => deploy(environment, { kind: 'variant', slug: variant.slug } as const),
          },
        ]
      : []),
    {
      label: `Deploy another version to ${environment}…`,
      refusal,
      run: () => deploy(environment, undefined),
    },
    { label: `Take it down from ${environment}…`, refusal, run: takeDown },
  ]
}
