import { useNavigate, Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Check, BadgeCheck, GitBranch, ShieldAlert, ShieldQuestion, Tag } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { Artifact } from '../../api/kinds.ts'
import { usePages } from '../../api/use-route.ts'
import { type Archivable, ArchivedBadge } from '../../parts/archive/archive.tsx'
import { LinkButton } from '../../parts/button/button.tsx'
import { authorName, EnvironmentDot } from '../../parts/chips/chips.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { GraphLines, colourOf, layOutGraph, type GraphRow } from '../../parts/graph/graph.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places, useAddress } from '../../shell/places.ts'
import type { Variant } from './use-artifact.ts'
import type { ForkPoint } from './fork-dialog.tsx'
import styles from './artifact.module.css'
import { type Commit, endOf, Picked, slugOf, usePicks } from './picked.tsx'

/** Rows drawn before and after the visible ones. */
const AROUND = 15
/** Commits per request: what is drawn first, and as much again. */
const PAGE = 80

interface HistoryProps {
  readonly artifact: Artifact
  readonly main: Variant | undefined
  /** Whether the main variant is known: it has the first lane. */
  readonly ready: boolean
  readonly fork: (point: ForkPoint) => void
  readonly forkRefusal: string | undefined
  /** Opens the sheet that deploys; without a version, that of the page. */
  readonly deploy: (what: End | undefined) => void
  /** Opens the dialog that archives something. */
  readonly archive: (it: Archivable) => void
}

/** The commits of all variants, newest first, as a graph. Only visible rows are drawn; more are loaded before the end is reached. */
export function History({ artifact, main, ready, fork, forkRefusal, deploy, archive }: HistoryProps) {
  const { slug } = artifact
  const navigate = useNavigate()
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useCommits(slug)
  const commits = useMemo(() => data?.pages.flatMap(({ nodes }) => nodes) ?? [], [data])
  const layout = useMemo(() => layOutGraph(commits, main?.id), [commits, main?.id])
  const scroller = useRef<HTMLDivElement>(null)
  const height = useRowHeight()
  const virtual = useVirtualizer({
    count: commits.length + (hasNextPage ? 1 : 0),
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: AROUND,
  })
  useEffect(() => virtual.measure(), [height])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last + 2 * AROUND >= commits.length) void fetchNextPage()
  }, [last, commits.length, hasNextPage, isFetchingNextPage, fetchNextPage])

  const picks = usePicks(commits, slug)
  const { at: atInAddress } = useAddress()
  const [at, setAt] = useState(-1)
  const wanted = useRef<number>(undefined)
  useEffect(() => {
    // A row that was scrolled to is drawn in the next render.
    const row = wanted.current === undefined ? null : rowAt(scroller.current, wanted.current)
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
    // The history may be below what the window shows.
    row.scrollIntoView({ block: 'nearest' })
  })
  const moveTo = (to: number): void => {
    const within = Math.max(0, Math.min(commits.length - 1, to))
    setAt(within)
    wanted.current = within
    virtual.scrollToIndex(within)
  }
  const cursor = commits[at]
  const open = (commit: Commit | undefined): void => {
    if (!commit?.variant) return
    // The browser's Back returns to this row.
    const here = { ...picks.search, at: slugOf(commit) }
    void navigate({ to: places.artifact(slug), search: here as never, replace: true }).then(() =>
      navigate({ to: placeOf(slug, commit) }),
    )
  }
  useEffect(() => {
    const index = atInAddress === undefined ? -1 : commits.findIndex((it) => slugOf(it) === atInAddress)
    if (index >= 0 && at < 0) moveTo(index)
    // Only when the first rows arrive, not when the cursor moves.
  }, [commits.length > 0])

  useCommands([
    { id: 'next', title: 'Next version', keys: 'j', run: () => moveTo(at + 1) },
    { id: 'previous', title: 'Previous version', keys: 'k', run: () => moveTo(at - 1) },
    { id: 'open', title: 'Open the version', keys: 'enter', run: () => open(cursor) },
    { id: 'pick', title: 'Pick the version', keys: 'space', run: () => cursor && picks.toggle(cursor) },
    { id: 'unpick', title: 'Pick none', keys: 'escape', run: picks.clear },
    {
      id: 'compare',
      title: 'Compare the two that are picked',
      keys: 'c',
      refusal: picks.compare === undefined ? 'Pick two versions first, with Space.' : undefined,
      run: () => picks.compare !== undefined && void navigate({ to: picks.compare }),
    },
    {
      id: 'deploy',
      title: cursor?.variant ? `Deploy ${slugOf(cursor)}` : 'Deploy',
      keys: 'd',
      refusal: commits.length === 0 ? 'There is no version yet.' : undefined,
      run: () => deploy(cursor?.variant ? endOf(cursor) : undefined),
    },
  ])

  if (error) return <Failure error={error} retry={refetch} />
  if (!data || !ready) return <Skeleton label="Loading the history" lines={18} />
  if (commits.length === 0) {
    return (
      <Empty
        action={
          <LinkButton to={places.edit(slug, main?.slug ?? slug)} kind="primary" refusal={forkRefusal}>
            Write the first version
          </LinkButton>
        }
      >
        Nothing is saved yet. Each version that you save, or push with git, is listed here.
      </Empty>
    )
  }
  return (
    <section className={styles.history} aria-label="History">
      <h2>History</h2>
      <div
        ref={scroller}
        className={styles.scroller}
        role="grid"
        aria-label="Versions, newest first"
        aria-rowcount={hasNextPage ? -1 : commits.length}
        aria-multiselectable
        tabIndex={at < 0 ? 0 : -1}
        onFocus={({ target, currentTarget }) => target === currentTarget && at < 0 && moveTo(0)}
      >
        <div role="rowgroup" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const commit = commits[index]
            const row = layout.rows[index]
            if (!commit || !row)
              return (
                <div
                  key={index}
                  role="row"
                  className={styles.coming}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <span role="gridcell">Loading older ones …</span>
                </div>
              )
            return (
              <CommitRow
                key={commit.commit}
                index={index}
                start={start}
                height={height}
                slug={slug}
                commit={commit}
                row={row}
                width={layout.width}
                isHere={index === at}
                isPicked={picks.has(commit)}
                enter={() => setAt(index)}
                pick={() => picks.toggle(commit)}
              />
            )
          })}
        </div>
      </div>
      <Picked
        picks={picks}
        fork={() => {
          const [only] = picks.commits
          if (only?.variant) fork({ variant: only.variant.slug, version: Number(only.version) })
        }}
        forkRefusal={forkRefusal}
        deploy={deploy}
        artifact={artifact}
        archive={archive}
      />
    </section>
  )
}

/** The history, page by page. */
export function useCommits(slug: string) {
  return usePages('POST /workflows/graph', {
    body: { workflow_ref: { slug }, include_signatures: true, windowing: { limit: PAGE } },
  })
}

/** The page of a commit on a variant. */
function placeOf(slug: string, { variant, version }: Commit): string {
  return places.version(slug, variant?.slug ?? '', Number(version))
}

function rowAt(scroller: HTMLElement | null, index: number): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null
}

const narrow = matchMedia('(max-width: 639px)')
const coarse = matchMedia('(pointer: coarse)')

/** The height of a row in pixels: two lines on a phone, more for touch. */
function useRowHeight(): number {
  return useSyncExternalStore(follow, () => (narrow.matches ? 60 : coarse.matches ? 44 : 36))
}

function follow(changed: () => void): () => void {
  for (const media of [narrow, coarse]) media.addEventListener('change', changed)
  return () => {
    for (const media of [narrow, coarse]) media.removeEventListener('change', changed)
  }
}

interface CommitRowProps {
  readonly index: number
  /** The top of the row in the list, in pixels. */
  readonly start: number
  readonly height: number
  readonly slug: string
  readonly commit: Commit
  readonly row: GraphRow
  readonly width: number
  /** Whether the keyboard cursor is here. */
  readonly isHere: boolean
  readonly isPicked: boolean
  readonly enter: () => void
  readonly pick: () => void
}

/** A row of the history: its part of the graph, version, subject, refs, author and date. */
function CommitRow(props: CommitRowProps) {
  const { index, start, height, slug, commit, row, width, isHere, isPicked, enter, pick } = props
  const { variant, subject, author, date } = commit
  const version = Number(commit.version)
  const tabIndex = isHere ? 0 : -1
  const shown = subject.length > LONGEST_SUBJECT ? `${subject.slice(0, LONGEST_SUBJECT)}…` : subject
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isPicked}
      data-index={index}
      className={styles.row}
      data-archived={commit.archived}
      style={{ transform: `translateY(${start}px)`, height }}
      tabIndex={tabIndex}
      onFocus={enter}
    >
      <span role="gridcell">
        <button
          type="button"
          role="checkbox"
          aria-checked={isPicked}
          aria-disabled={variant === undefined || undefined}
          aria-label={`Pick ${variant?.slug ?? ''} v${version}`}
          title={variant ? 'Pick it to compare, deploy or undo it' : NOWHERE}
          tabIndex={tabIndex}
          className={styles.pick}
          onClick={pick}
        >
          {isPicked && <Check size={14} aria-hidden />}
        </button>
      </span>
      <GraphLines row={row} width={width} height={height} />
      <span role="gridcell" className={styles.version}>
        v{version}
      </span>
      <span role="gridcell" className={styles.what}>
        {variant ? (
          <Link
            to={places.version(slug, variant.slug, version)}
            tabIndex={tabIndex}
            className={styles.subject}
            dir="auto"
            title={`${shown}\n${commit.commit.slice(0, 12)}`}
          >
            {shown}
          </Link>
        ) : (
          <span className={styles.subject} dir="auto" title={NOWHERE}>
            {shown}
          </span>
        )}
        <Refs slug={slug} commit={commit} lane={row.lane} tabIndex={tabIndex} />
      </span>
      <bdi role="gridcell" className={styles.author} title={author}>
        {authorName(author)}
      </bdi>
      <span role="gridcell" className={styles.when}>
        <Ago date={date} />
      </span>
    </div>
  )
}

/** Longer subjects are cut; the page of the commit has all of it. */
const LONGEST_SUBJECT = 300

const NOWHERE = 'Merged from versions that are not here. See what they changed on the page of the merge.'

interface RefsProps {
  readonly slug: string
  readonly commit: Commit
  readonly lane: number
  readonly tabIndex: number
}

const MAX_REFS_SHOWN = 6

/** The refs of a commit (variants, tags, environments) and its signature. */
function Refs({ slug, commit: { refs, signature, archived }, lane, tabIndex }: RefsProps) {
  return (
    <span className={styles.refs}>
      {archived && <ArchivedBadge />}
      {refs.slice(0, MAX_REFS_SHOWN).map(({ kind, name }) => {
        // A deployment under a key of its own is `<environment>/<key>`.
        if (kind === 'environment')
          return <EnvironmentDot key={`${kind} ${name}`} slug={name.split('/')[0] ?? name} />
        const Icon = kind === 'tag' ? Tag : GitBranch
        return (
          <Link
            key={`${kind} ${name}`}
            to={kind === 'tag' ? places.revision(slug, name) : places.version(slug, name)}
            tabIndex={tabIndex}
            className={styles.ref}
            style={kind === 'variant' ? { borderColor: colourOf(lane) } : {}}
            title={kind === 'tag' ? `The ID ${name}` : `The newest version of ${name}`}
          >
            <Icon size={12} aria-hidden />
            {name}
          </Link>
        )
      })}
      {refs.length > MAX_REFS_SHOWN && (
        <span
          className="muted-small"
          title={refs
            .map(({ name }) => name)
            .slice(0, 100)
            .join(', ')}
        >
          and {refs.length - MAX_REFS_SHOWN} more
        </span>
      )}
      {signature && signature.status !== 'none' && <Signature signature={signature} />}
    </span>
  )
}

function Signature({
  signature: { status, key = 'a key that is not of SSH' },
}: {
  readonly signature: NonNullable<Commit['signature']>
}) {
  const [Icon, said] = SIGNATURES[status]
  return (
    <span className={styles.signature} data-status={status} title={`${said}: ${key}`}>
      <Icon size={14} aria-hidden />
      <span className="visually-hidden">{said}</span>
    </span>
  )
}

const SIGNATURES = {
  good: [BadgeCheck, 'Signed'],
  unknown_key: [ShieldQuestion, 'Signed with an unknown key'],
  bad: [ShieldAlert, 'Invalid signature'],
  none: [ShieldQuestion, 'Not signed'],
} as const
