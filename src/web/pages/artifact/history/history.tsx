import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { usePages } from '../../../api/use-route.ts'
import { layOutGraph } from '../../../parts/graph/lay-out-graph.ts'
import { Empty, Failure, Skeleton } from '../../../parts/states/states.tsx'
import { useCommands } from '../../../shell/commands.tsx'
import { places } from '../../../shell/places.ts'
import styles from '../artifact.module.css'
import { type Archivable, BringBack } from '../../../parts/archive/archive.tsx'
import { CommitRow } from './commit-row.tsx'
import type { ForkPoint } from '../fork-dialog.tsx'
import { type Artifact, artifactKind } from '../../../api/kinds.ts'
import { type Commit, slugOf, usePicks, type Picks } from './use-picks.ts'
import { cloneCommand, type Variant } from '../aside.tsx'
import { Button, LinkButton } from '../../../parts/button/button.tsx'

/** Rows before and after what is seen that are drawn, too. */
const AROUND = 15
/** Commits that are asked for at a time. */
const PAGE = 150

export interface HistoryProps {
  readonly artifact: Artifact
  readonly main: Variant | undefined
  /** Whether it is known which variant is the main one, so that no lane jumps. */
  readonly ready: boolean
  readonly fork: (point: ForkPoint) => void
  readonly forkRefusal: string | undefined
  /** Asks whether something is to be archived. */
  readonly archive: (it: Archivable) => void
}

/** The commits of all variants, newest first, as a graph. Only what is seen is drawn, and pages are loaded before one gets to their end. */
export function History({ artifact, main, ready, fork, forkRefusal, archive }: HistoryProps) {
  const { slug } = artifact
  const navigate = useNavigate()
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /workflows/graph',
    { body: { workflow_ref: { slug }, include_signatures: true, windowing: { limit: PAGE } } },
  )
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
    if (hasNextPage && !isFetchingNextPage && last + 3 * AROUND >= commits.length) void fetchNextPage()
  }, [last, commits.length, hasNextPage, isFetchingNextPage, fetchNextPage])

  const picks = usePicks(commits, slug)
  const { at: atInAddress } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const [at, setAt] = useState(-1)
  const wanted = useRef<number>(undefined)
  useEffect(() => {
    // A row that was scrolled to is there one draw later.
    const row = wanted.current === undefined ? null : rowAt(scroller.current, wanted.current)
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
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
    // Back leads to the same row.
    const here = { ...picks.search, at: slugOf(commit) }
    void navigate({ to: places.artifact(slug), search: here as never, replace: true }).then(() =>
      navigate({ to: placeOf(slug, commit) }),
    )
  }
  useEffect(() => {
    const index = atInAddress === undefined ? -1 : commits.findIndex((it) => slugOf(it) === atInAddress)
    if (index >= 0 && at < 0) moveTo(index)
    // Only when the rows come, not when the cursor moves on.
  }, [commits.length > 0])

  useCommands([
    { id: 'next', title: 'Next revision', keys: 'j', run: () => moveTo(at + 1) },
    { id: 'previous', title: 'The revision before', keys: 'k', run: () => moveTo(at - 1) },
    { id: 'open', title: 'Open the revision', keys: 'enter', run: () => open(cursor) },
    { id: 'pick', title: 'Pick the revision', keys: 'space', run: () => cursor && picks.toggle(cursor) },
    { id: 'unpick', title: 'Pick none', keys: 'escape', run: picks.clear },
    {
      id: 'compare',
      title: 'Compare the two that are picked',
      keys: 'c',
      refusal: picks.compare === undefined ? 'Pick two revisions first, with Space.' : undefined,
      run: () => picks.compare !== undefined && void navigate({ to: picks.compare }),
    },
  ])

  if (error) return <Failure error={error} retry={refetch} />
  if (!data || !ready) return <Skeleton label="Loading the history" lines={18} />
  if (commits.length === 0) {
    return (
      <Empty command={cloneCommand(artifact)}>
        Nothing is committed yet. Each commit, over REST or pushed with git, is a version here.
      </Empty>
    )
  }
  return (
    <section className={styles.history} aria-label="History">
      <div
        ref={scroller}
        className={styles.scroller}
        role="grid"
        aria-label="Revisions, newest first"
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
        artifact={artifact}
        archive={archive}
      />
    </section>
  )
}

/** The page of a commit that is on a variant's line. */
function placeOf(slug: string, { variant, version }: Commit): string {
  return places.version(slug, variant?.slug ?? '', Number(version))
}

function rowAt(scroller: HTMLElement | null, index: number): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null
}

const narrow = matchMedia('(max-width: 639px)')
const coarse = matchMedia('(pointer: coarse)')

/** How high a row of the history is, in pixels: two lines on a telephone, and room for a finger on what is touched. */
function useRowHeight(): number {
  return useSyncExternalStore(follow, () => (narrow.matches ? 60 : coarse.matches ? 44 : 36))
}

function follow(changed: () => void): () => void {
  for (const media of [narrow, coarse]) media.addEventListener('change', changed)
  return () => {
    for (const media of [narrow, coarse]) media.removeEventListener('change', changed)
  }
}

interface PickedProps {
  readonly picks: Picks
  readonly fork: () => void
  readonly forkRefusal: string | undefined
  readonly artifact: Artifact
  /** Asks whether something is to be archived. */
  readonly archive: (it: Archivable) => void
}

/** What can be done with what is picked, below the history. */
function Picked({ picks, fork, forkRefusal, artifact, archive }: PickedProps) {
  const { slugs, commits, compare, clear } = picks
  const [only] = slugs.length === 1 ? commits : []
  return (
    <div role="status" className={styles.picked} data-empty={slugs.length === 0 || undefined}>
      {slugs.length === 0 ? (
        <span className={styles.muted}>
          Pick two revisions to compare them
          <span className={styles.keys}>
            : <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Space</kbd> picks, <kbd>c</kbd> compares
          </span>
        </span>
      ) : (
        <>
          <span className={styles.pickedNames}>
            {slugs.map((slug) => (
              <code key={slug}>{slug}</code>
            ))}
            {slugs.length === 1 && <span className={styles.muted}>Pick another one to compare.</span>}
          </span>
          <Button kind="quiet" onClick={clear}>
            Pick none
          </Button>
          {slugs.length === 1 && (
            <Button
              onClick={fork}
              refusal={forkRefusal ?? (commits.length === 0 ? 'It is not loaded yet.' : undefined)}
            >
              Fork from here …
            </Button>
          )}
          {only?.variant &&
            (only.archived ? (
              <BringBack it={archivableOf(artifact, only, only.archived)} />
            ) : (
              <Button needs="write" onClick={() => archive(archivableOf(artifact, only, 'revision'))}>
                Archive v{only.version} …
              </Button>
            ))}
          {compare !== undefined && (
            <LinkButton to={compare}>
              Compare <kbd>c</kbd>
            </LinkButton>
          )}
        </>
      )}
    </div>
  )
}

/** The commit itself, its variant, or the artifact. */
function archivableOf(artifact: Artifact, commit: Commit, level: Archivable['level']): Archivable {
  const { variant, id, version } = commit
  return {
    ...{ level, family: 'workflows', artifact: artifact.slug, word: artifactKind(artifact).word },
    id: level === 'artifact' ? artifact.id : level === 'variant' ? (variant?.id ?? '') : id,
    variant: variant?.slug,
    version: Number(version),
  }
}
