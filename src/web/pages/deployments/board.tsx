import { useVirtualizer } from '@tanstack/react-virtual'
import { Link, useNavigate } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ArchivedBadge, BringBack, archivableArtifact } from '../../parts/archive/archive.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { hueOf, authorName } from '../../parts/chips/chips.tsx'
import { versionsBehind } from '../../parts/deploy/use-deployments.ts'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import styles from './deployments.module.css'
import type { BoardEnvironment, BoardRow, Cell } from './use-board.ts'
import { Menu, type MenuItem } from '../../parts/menu/menu.tsx'
import { Ago } from '../../parts/time/time.tsx'

/** Something to deploy; `what` is undefined if the sheet has to ask. */
export interface Wanted {
  readonly artifact: string
  readonly to: string
  readonly what: End | undefined
  readonly key: string | undefined
}

export interface BoardProps {
  readonly rows: readonly BoardRow[]
  readonly environments: readonly BoardEnvironment[]
  readonly hasMore: boolean
  readonly loadMore: () => void
  readonly deploy: (wanted: Wanted) => void
  readonly takeDown: (key: { readonly key: string; readonly to: string }) => void
}

const ROW_HEIGHT = 64

/** Artifacts as rows, environments as columns. Only visible rows are drawn. Dragging a cell onto another one of its row promotes it. */
export function Board({ rows, environments, hasMore, loadMore, deploy, takeDown }: BoardProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState({ row: 0, column: 0 })
  const navigate = useNavigate()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    getItemKey: (index) => rows[index]?.key ?? index,
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= rows.length - 20) loadMore()
  }, [hasMore, last, rows.length, loadMore])

  const go = (by: number): void => {
    const row = Math.min(Math.max(at.row + by, 0), rows.length - 1)
    setAt({ ...at, row })
    virtual.scrollToIndex(row)
  }
  const turn = (by: number): void =>
    setAt({ ...at, column: Math.min(Math.max(at.column + by, 0), environments.length - 1) })
  const here = rows[at.row]
  const column = environments[at.column]
  const promote = (): void => {
    if (!here || !column) return
    // Deploys this cell to the next environment; in the last column, and in an empty cell, the sheet asks what to deploy here.
    const to = here.cells.has(column.slug) ? environments[at.column + 1] : undefined
    if ((to ?? column).isArchived) return
    const key = ownKey(here)
    if (to)
      deploy({ artifact: here.artifact, to: to.slug, what: { kind: 'environment', slug: column.slug }, key })
    else deploy({ artifact: here.artifact, to: column.slug, what: undefined, key })
  }
  useCommands([
    { id: 'next row', title: 'Next row', keys: 'j', run: () => go(1) },
    { id: 'previous row', title: 'Previous row', keys: 'k', run: () => go(-1) },
    { id: 'next environment', title: 'Next environment', keys: 'l', run: () => turn(1) },
    { id: 'previous environment', title: 'Previous environment', keys: 'h', run: () => turn(-1) },
    {
      id: 'open',
      title: 'Open the prompt',
      keys: 'enter',
      run: () => here && void navigate({ to: places.artifact(here.artifact) }),
    },
    { id: 'deploy', title: 'Deploy the selected version to the next environment', keys: 'd', run: promote },
  ])
  const before = shown[0]?.start ?? 0
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    <div ref={scroller} className={styles.scroller} tabIndex={0} role="region" aria-label="Deployments">
      <table
        className={styles.board}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        style={{ minWidth: 220 + environments.length * 200 }}
      >
        <caption className="visually-hidden">The version of each prompt in each environment</caption>
        <thead>
          <tr>
            <th scope="col">Prompt</th>
            {environments.map(({ slug, id, isGuarded, isArchived }) => (
              <th key={slug} scope="col" style={{ borderBlockEndColor: hueOf(slug) }}>
                <Link to={places.environment(slug)} title={`The timeline of ${slug}`}>
                  <span aria-hidden className={styles.dot} style={{ background: hueOf(slug) }} />
                  {slug}
                </Link>
                {isGuarded && (
                  <span className={styles.guard} title="Only keys with the scope deploy can deploy here">
                    <ShieldCheck size={14} aria-hidden /> protected
                  </span>
                )}
                {isArchived && (
                  <span className={styles.archived}>
                    <ArchivedBadge />
                    <BringBack isShort it={archivableArtifact('environments', 'environment', { id, slug })} />
                  </span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr aria-hidden style={{ height: before }} />}
          {shown.map(({ index }) => {
            const row = rows[index]
            return (
              row && (
                <tr key={row.key} aria-rowindex={index + 2} data-at={index === at.row || undefined}>
                  <th scope="row">
                    <Link to={places.artifact(row.artifact)} dir="auto">
                      {row.name ?? row.artifact}
                    </Link>
                    {row.name !== undefined && <code>{row.artifact}</code>}
                    {ownKey(row) !== undefined && (
                      <code title="The key under which it is deployed">{row.key}</code>
                    )}
                  </th>
                  {environments.map(({ slug }, columnAt) => (
                    <BoardCell
                      key={slug}
                      row={row}
                      environment={slug}
                      environments={environments}
                      isAt={index === at.row && columnAt === at.column}
                      pick={() => setAt({ row: index, column: columnAt })}
                      deploy={(to, what) => deploy({ artifact: row.artifact, to, what, key: ownKey(row) })}
                      takeDown={() => takeDown({ key: row.key, to: slug })}
                    />
                  ))}
                </tr>
              )
            )
          })}
          {after > 0 && <tr aria-hidden style={{ height: after }} />}
        </tbody>
      </table>
    </div>
  )
}

/** The key of the row, unless it is the artifact's default one. */
function ownKey({ key, artifact }: BoardRow): string | undefined {
  return key === `${artifact}.revision` ? undefined : key
}

interface BoardCellProps {
  readonly row: BoardRow
  readonly environment: string
  readonly environments: readonly BoardEnvironment[]
  /** The keyboard acts on it. */
  readonly isAt: boolean
  readonly pick: () => void
  readonly deploy: (to: string, what: End | undefined) => void
  readonly takeDown: () => void
}

/** The type of dragged data: only cells of the same row accept it. */
const DRAGGED = 'application/x-branchpoint-cell'

/** What one environment runs of one artifact: version, age, author, and how far behind; with a menu. */
function BoardCell({ row, environment, environments, isAt, pick, deploy, takeDown }: BoardCellProps) {
  const [isOver, setOver] = useState(false)
  const cell = row.cells.get(environment)
  const isArchived = environments.some((it) => it.slug === environment && it.isArchived)
  // Before the drop only the types of dragged data can be read; they are lower case.
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
        {cell ? <Running cell={cell} /> : <span className="muted">–</span>}
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
      <span className="bad" title={problem}>
        not found
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
          <span className={styles.variant} title={`The ${WORDS[archived]} is archived. It keeps running.`}>
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
            {versionsBehind(behind)}
          </Link>
        )}
      </span>
      <span className="muted-small clip" title={since.message}>
        <Ago date={since.date} /> · <bdi>{authorName(since.author)}</bdi>
      </span>
    </span>
  )
}

/** What is archived of a deployment, in users' words. */
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
            label: `Update to v${latest.version}, the newest of ${variant.slug}`,
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
