import { COMMAND } from '../../shell/document.ts'
import { Link, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState, useCallback } from 'react'
import {
  type Archivable,
  ArchivedBadge,
  ArchivedToggle,
  BringBack,
  archivableArtifact,
} from '../../parts/archive/archive.tsx'
import { Button } from '../../parts/button/button.tsx'
import { EnvironmentDot } from '../../parts/chips/chips.tsx'
import { ChoiceField } from '../../parts/fields/fields.tsx'
import { problemOfJson } from '../../parts/json-text/json-text.ts'
import { parseJson } from '../../api/json.ts'
import { SelectionBar } from './list-actions.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import type { Family } from '../../api/kinds.ts'
import styles from './home.module.css'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type Answer, call } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'

const ROW = 40
/** Rows drawn before and after the visible ones. */
const AROUND = 12

export interface ArtifactListProps {
  readonly family: Family
  /** The search words; empty lists all. */
  readonly words: string
  /** A button that creates the first one. */
  readonly make?: ReactNode
}

/** The artifacts of a family. Only visible rows are drawn; more are loaded before the end is reached. */
export function ArtifactList({ family, words, make }: ArtifactListProps) {
  const { sort = '-updated', archived, folder, tag, env } = useAddress()
  const withArchived = archived !== undefined
  const navigate = useNavigate()
  const change = useChangeAddress()
  const { rows, total, error, isPending, loadMore, refetch } = useArtifacts(family, {
    words,
    sort,
    folder,
    tag,
    env,
    withArchived,
  })
  const [selected, setSelected] = useState<ReadonlyMap<string, Listed>>(new Map())
  const toggle = (row: Listed): void =>
    setSelected((before) => {
      const after = new Map(before)
      if (!after.delete(row.id)) after.set(row.id, row)
      return after
    })
  const project = useRoute('GET /projects/current', {})
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: total ?? rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: AROUND,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last + 4 * AROUND >= rows.length) loadMore()
  }, [last, rows.length, loadMore])

  const [picked, setPicked] = useState(-1)
  const open = (at: number): void => {
    const row = rows[at]
    if (row) void navigate({ to: placeOfListed(family, row) })
  }
  const pick = (at: number): void => {
    const to = Math.max(0, Math.min(rows.length - 1, at))
    setPicked(to)
    virtual.scrollToIndex(to)
  }
  useCommands([
    { id: 'next', title: 'Next', keys: 'j', run: () => pick(picked + 1) },
    { id: 'previous', title: 'Previous', keys: 'k', run: () => pick(picked - 1) },
    { id: 'open', title: 'Open', keys: 'enter', run: () => open(picked) },
    {
      id: 'select',
      title: 'Select',
      keys: 'space',
      refusal: rows[picked] ? undefined : 'Go to one with j and k first.',
      run: () => rows[picked] && toggle(rows[picked]),
    },
  ])

  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label={`Loading ${family.title.toLowerCase()}`} lines={12} />
  const isFiltered = words !== '' || tag !== undefined || env !== undefined
  const head = (
    <div className={styles.listHead}>
      <p role="status">
        {(total ?? rows.length).toLocaleString()} {total === 1 ? family.one : family.title.toLowerCase()}
      </p>
      {tag !== undefined && (
        <Button kind="quiet" onClick={() => change({ tag: undefined })}>
          tag <bdi>{tag}</bdi> <span aria-hidden>×</span>
          <span className="visually-hidden">: show all tags</span>
        </Button>
      )}
      {HAS_DEPLOYMENTS.has(family.kind) && (
        <ChoiceField
          label="Deployed to"
          value={env ?? ''}
          choices={[
            { value: '', label: 'anywhere or not' },
            ...(project.data?.project.environments ?? []).map((it) => ({ value: it, label: it })),
          ]}
          onChange={(chosen) => change({ env: chosen === '' ? undefined : chosen })}
        />
      )}
      <ArchivedToggle
        isOn={withArchived}
        onChange={(isOn) => change({ archived: isOn ? '1' : undefined }, true)}
      />
      <ChoiceField
        label="Order"
        value={sort}
        choices={ORDERS}
        onChange={(order) => change({ sort: order })}
      />
    </div>
  )
  if (rows.length === 0) {
    return (
      <>
        {head}
        <Empty
          action={!isFiltered && make}
          command={words === '' ? COMMANDS[family.kind] : `${COMMAND} search '${words.replaceAll("'", '’')}'`}
        >
          {!isFiltered ? family.purpose : `No ${family.one} matches.`}
        </Empty>
      </>
    )
  }
  return (
    <>
      <NewsLine concerns={({ kind }) => kind === 'artifact'} />
      {head}
      {selected.size > 0 && (
        <SelectionBar
          family={family}
          selected={[...selected.values()]}
          clear={() => setSelected(new Map())}
        />
      )}
      <div ref={scroller} className={styles.scroller} tabIndex={0} role="region" aria-label={family.title}>
        <ul style={{ height: virtual.getTotalSize() }} className={styles.rows}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            return (
              <li
                key={index}
                className={styles.row}
                data-picked={index === picked || undefined}
                data-archived={row?.deleted_at !== undefined || undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                {row ? (
                  <Row
                    row={row}
                    family={family}
                    isSelected={selected.has(row.id)}
                    toggle={() => toggle(row)}
                    byTag={(value) => change({ tag: value })}
                  />
                ) : (
                  <span className={styles.coming} />
                )}
              </li>
            )
          })}
        </ul>
      </div>
    </>
  )
}

interface RowProps {
  readonly row: Listed
  readonly family: Family
  readonly isSelected: boolean
  readonly toggle: () => void
  /** Shows only what has the tag, as `name:value`. */
  readonly byTag: (tag: string) => void
}

function Row({ row, family, isSelected, toggle, byTag }: RowProps) {
  const { kind, one } = family
  const flags = Object.entries(row.flags ?? {}).filter(
    ([name, isSet]) => isSet === true && SHOWN_FLAGS.has(name),
  )
  return (
    <>
      <input
        type="checkbox"
        aria-label={`Select ${row.name ?? row.slug}`}
        checked={isSelected}
        disabled={row.deleted_at !== undefined}
        onChange={toggle}
      />
      <span className={`clip ${styles.name}`}>
        <Link to={placeOfListed(family, row)} dir="auto">
          {row.name ?? row.slug}
        </Link>
        {row.name !== undefined && row.name !== row.slug && <code>{row.slug}</code>}
      </span>
      <span className={`clip ${styles.model}`} title="Model">
        {row.latest?.model}
      </span>
      <span className={`clip ${styles.deployed}`}>
        {(row.deployments ?? []).slice(0, 3).map(({ environment, revision }) => (
          <span key={environment} title={`${environment} runs v${revision.version}`}>
            <EnvironmentDot slug={environment} /> v{revision.version}
          </span>
        ))}
      </span>
      <span className={`clip ${styles.tags}`}>
        {flags.map(([name]) => (
          <span key={name}>{name.replace('is_', '')}</span>
        ))}
        {Object.entries(row.tags ?? {})
          .slice(0, 4)
          .map(([name, value]) => (
            <button
              key={name}
              type="button"
              title="Show only what has this tag"
              onClick={() => byTag(`${name}:${typeof value === 'string' ? value : JSON.stringify(value)}`)}
            >
              <bdi>{name}</bdi>: <bdi>{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
            </button>
          ))}
      </span>
      <span className={styles.when}>
        {row.deleted_at === undefined ? (
          <>
            {row.latest && <>v{row.latest.version} · </>}
            <Ago date={changedAt(row)} />
          </>
        ) : (
          <>
            <ArchivedBadge />
            <BringBack isShort it={archivableArtifact(familyOfKind(kind), one, row)} />
          </>
        )}
      </span>
    </>
  )
}

/** Prompts and evaluators are archived as workflows. */
function familyOfKind(kind: Family['kind']): Archivable['family'] {
  return kind === 'applications' || kind === 'evaluators' ? 'workflows' : kind
}

const SHOWN_FLAGS: ReadonlySet<string> = new Set(['is_chat', 'is_code', 'is_hook', 'is_snippet', 'search'])

const ORDERS = [
  { value: '-updated', label: 'Changed last' },
  { value: '-created', label: 'Newest first' },
  { value: 'created', label: 'Oldest first' },
  { value: 'name', label: 'Name' },
]

const COMMANDS: Readonly<Record<string, string>> = {
  applications: `curl "$BRANCHPOINT_URL/simple/applications/" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"application": {"slug": "my-prompt", "template": "completion"}}'`,
  evaluators: `curl "$BRANCHPOINT_URL/simple/evaluators/" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"evaluator": {"slug": "exact", "template": "auto_exact_match"}}'`,
  testsets: `${COMMAND} testsets import capitals.csv --slug capitals`,
  queries: `curl "$BRANCHPOINT_URL/simple/queries/" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"query": {"slug": "errors", "data": {}}}'`,
}

/** Environments run these. */
const HAS_DEPLOYMENTS: ReadonlySet<Family['kind']> = new Set(['applications', 'evaluators', 'workflows'])

/** The later of the last edit and the newest version. */
function changedAt({ latest, updated_at: edited, created_at: made }: Listed): string {
  const at = edited ?? made
  return latest && latest.date > at ? latest.date : at
}

/** An artifact as lists have it. */
type Listed = Omit<Answer<'POST /workflows/query'>['workflows'][number], 'flags'> & {
  readonly flags?: Readonly<Record<string, unknown>>
}

/** Which artifacts are listed, and how. */
interface Wanted {
  /** The search words; empty lists all. */
  readonly words: string
  readonly sort: string
  /** Only what lies in this folder or below it. */
  readonly folder: string | undefined
  /** A tag, as `name:value`. */
  readonly tag: string | undefined
  /** Only what this environment runs. */
  readonly env: string | undefined
  readonly withArchived: boolean
}

interface ListPage {
  readonly rows: readonly Listed[]
  readonly total: number | undefined
  readonly next: string | undefined
}

const PAGE = 100

/** The artifacts of a family, page by page, filtered by words. */
function useArtifacts(family: Family, wanted: Wanted) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['artifacts', family.kind, wanted],
      queryFn: ({ pageParam, signal }) => list(family, wanted, pageParam, signal),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next }) => next,
      staleTime: 2000,
    })
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const rows = data?.pages.flatMap((page) => page.rows) ?? []
  return { rows, total: data?.pages[0]?.total, error, isPending, loadMore, refetch }
}

async function list(
  { kind, found }: Family,
  { words, sort, folder, tag, env, withArchived }: Wanted,
  next: string | undefined,
  signal: AbortSignal,
): Promise<ListPage> {
  // The lists of all families have the same shape under different names.
  const answer = (await call(
    `POST /${kind}/query` as 'POST /workflows/query',
    {
      body: {
        [found]: {
          ...(words.length > 1 ? { text: words } : {}),
          // Prompts and evaluators have lists of their own.
          ...(kind === 'workflows' ? { flags: { is_application: false, is_evaluator: false } } : {}),
          ...(folder === undefined ? {} : { folder, recursive: true }),
          ...(tag === undefined ? {} : { tags: tagOf(tag) }),
          ...(env === undefined ? {} : { deployed_to: env }),
        },
        ...(withArchived ? { include_archived: true } : {}),
        include_latest: true,
        windowing: {
          limit: PAGE,
          order: sort as 'name',
          ...(next === undefined ? { count_total: true } : { next }),
        },
      },
    },
    signal,
  )) as Readonly<Record<string, unknown>> & {
    readonly total?: number
    readonly windowing?: { readonly next?: string }
  }
  return { rows: answer[kind] as readonly Listed[], total: answer.total, next: answer.windowing?.next }
}

/** `team:support` as a filter. A value that is not text is written as JSON. */
function tagOf(tag: string): Readonly<Record<string, unknown>> {
  const at = tag.indexOf(':')
  const value = tag.slice(at + 1)
  const isJson = /^(?:[[{]|true$|false$|null$|-?\d)/.test(value) && problemOfJson(value) === undefined
  return { [tag.slice(0, at)]: isJson ? parseJson(value) : value }
}

/** The page of an artifact of the list. */
function placeOfListed({ kind }: Family, { slug }: Listed): string {
  if (kind === 'testsets') return places.testset(slug)
  if (kind === 'queries') return places.query(slug)
  return places.artifact(slug)
}

interface Folder {
  readonly path: string
  readonly recursive: number
}

/** The folders of the project: the path to the chosen one (`?folder=`), and the tree, open where that lies. Nothing if there are none. */
export function FolderTree() {
  const { folder = '' } = useAddress()
  const { data } = useRoute('GET /folders', {}, { keepPrevious: true })
  const folders = data?.folders ?? []
  if (folders.length === 0 && folder === '') return null
  const parts = folder === '' ? [] : folder.split('/')
  return (
    <div className={styles.folders}>
      <nav aria-label="Folder">
        <ol>
          <li>
            <FolderLink path="">All folders</FolderLink>
          </li>
          {parts.map((part, at) => (
            <li key={at}>
              <FolderLink path={parts.slice(0, at + 1).join('/')}>{part}</FolderLink>
            </li>
          ))}
        </ol>
      </nav>
      <nav aria-label="Folders">
        <Branch folders={folders} under="" chosen={folder} />
      </nav>
    </div>
  )
}

interface BranchProps {
  readonly folders: readonly Folder[]
  /** The folder whose folders are shown. */
  readonly under: string
  readonly chosen: string
}

function Branch({ folders, under, chosen }: BranchProps) {
  const own = folders.filter(({ path }) => parentOf(path) === under)
  if (own.length === 0) return null
  return (
    <ul>
      {own.map(({ path, recursive }) => (
        <li key={path}>
          <FolderLink path={path}>{path.slice(under === '' ? 0 : under.length + 1)}</FolderLink>{' '}
          <span>{recursive.toLocaleString()}</span>
          {isWithin(chosen, path) && <Branch folders={folders} under={path} chosen={chosen} />}
        </li>
      ))}
    </ul>
  )
}

interface FolderLinkProps {
  readonly path: string
  readonly children: string
}

function FolderLink({ path, children }: FolderLinkProps) {
  return (
    <Link
      to="/"
      search={((kept: object) => ({ ...kept, folder: path === '' ? undefined : path })) as never}
      // The chosen one is the current page (`aria-current`), and no folder above it.
      activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
    >
      {children}
    </Link>
  )
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Folders are compared without case. */
function isWithin(folder: string, outer: string): boolean {
  return `${folder}/`.toLowerCase().startsWith(`${outer}/`.toLowerCase())
}
