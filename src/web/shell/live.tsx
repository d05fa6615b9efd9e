import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { isOurs, isRecentlyOurs, whenSettled } from '../api/ours.ts'
import { authorName } from '../parts/chips/chips.tsx'
import { Ago } from '../parts/time/time.tsx'
import styles from './live.module.css'

/** An event of the project, from `GET /events` (docs/guide/sessions-and-events.md). */
interface LiveEvent {
  readonly kind: 'artifact' | 'revision' | 'deployment' | 'evaluation'
  readonly action: string
  /** By level: `testset_variant`, `application_revision`, `environment`. */
  readonly references: Readonly<Record<string, LiveReference | undefined>>
  readonly date: string
  readonly author: string | null
}

interface LiveReference {
  readonly id?: string
  readonly slug?: string
  readonly version?: number
}

/** The revision of an event; for a deployment that of the environment. */
function revisionIn({ kind, references }: LiveEvent): LiveReference | undefined {
  if (kind === 'deployment') return references['environment_revision']
  return Object.entries(references).find(([name]) => name.endsWith('_revision'))?.[1]
}

/** `refused`: the server answers, but sends no events. */
type Connection = 'connecting' | 'live' | 'lost' | 'refused'

const KINDS = ['artifact', 'revision', 'deployment', 'evaluation'] as const
const CHANNEL = 'branchpoint-live'

type Told = { readonly event: LiveEvent } | { readonly reset: true } | { readonly connection: Connection }

const listeners = new Set<(told: Told) => void>()
const connectionListeners = new Set<() => void>()
let connection: Connection = 'connecting'

/**
 * Follows the project's events. All tabs of a browser share one connection, since HTTP/1.1 allows six: the tab with the lock has it, and forwards
 * events to the others; when it is closed, another one takes over. `onRefused` is called on a refusal: the session may have ended.
 */
export function startLive(onRefused: () => void): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<Told>) => take(data)
  // Over plain http from another host a browser has no locks: each tab has its own connection.
  const locks = (navigator as Partial<Navigator>).locks
  if (!locks) return connect(channel, onRefused)
  void locks.request(CHANNEL, () => new Promise<never>(() => connect(channel, onRefused)))
}

function connect(channel: BroadcastChannel, onRefused: () => void): void {
  const tell = (told: Told): void => {
    take(told)
    channel.postMessage(told)
  }
  const source = new EventSource('/api/events')
  source.onopen = () => tell({ connection: 'live' })
  source.onerror = () => {
    // A browser does not retry after an error answer, but the session or the server may be back later.
    const isRefused = source.readyState === EventSource.CLOSED
    tell({ connection: isRefused ? 'refused' : 'lost' })
    if (!isRefused) return
    onRefused()
    setTimeout(() => connect(channel, onRefused), 3000)
  }
  source.addEventListener('reset', () => tell({ reset: true }))
  for (const kind of KINDS) {
    source.addEventListener(kind, ({ data }: MessageEvent<string>) =>
      tell({ event: JSON.parse(data) as LiveEvent }),
    )
  }
}

function take(told: Told): void {
  if ('connection' in told) {
    connection = told.connection
    for (const changed of connectionListeners) changed()
  }
  for (const listener of listeners) listener(told)
}

/** The state of the event stream. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (changed) => {
      connectionListeners.add(changed)
      return () => connectionListeners.delete(changed)
    },
    () => connection,
  )
}

/** Calls `told` for each event of others and of other tabs, and without one if events may have been missed. */
export function useLive(told: (event: LiveEvent | undefined) => void): void {
  const newest = useRef(told)
  newest.current = told
  useEffect(() => {
    const listener = (it: Told): void => {
      if ('reset' in it) newest.current(undefined)
      else if ('event' in it) {
        const { event } = it
        whenSettled(() => !isOwn(event) && listeners.has(listener) && newest.current(event))
      }
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [])
}

/** Whether this tab caused the event: it wrote or deployed the revision, or changed something a moment ago. */
function isOwn(event: LiveEvent): boolean {
  if (isOurs(revisionIn(event)?.id ?? '')) return true
  if (event.kind === 'revision') return false
  return Object.values(event.references).some((it) => isRecentlyOurs(it?.id ?? ''))
}

/** The newest event that `concerns` the page; `seen` clears it. */
function useNews(concerns: (event: LiveEvent) => boolean): {
  readonly news: LiveEvent | undefined
  readonly seen: () => void
} {
  const [news, setNews] = useState<LiveEvent>()
  useLive((event) => {
    if (event && concerns(event)) setNews(event)
  })
  return { news, seen: () => setNews(undefined) }
}

export interface NewsLineProps {
  readonly concerns: (event: LiveEvent) => boolean
  /** Says what has the version: for a page that shows several things. */
  readonly isNamed?: boolean
}

/** A line about another user's change: `v13 by ci, 4 s: show`. The page changes only on request. */
export function NewsLine({ concerns, isNamed = false }: NewsLineProps) {
  const { news, seen } = useNews(concerns)
  const cache = useQueryClient()
  return (
    <News
      show={() => {
        seen()
        void cache.invalidateQueries()
      }}
    >
      {news && (
        <>
          {isNamed && <bdi>{nameOf(news)} </bdi>}
          {sentenceOf(news)}, <Ago date={news.date} />
        </>
      )}
    </News>
  )
}

interface NewsProps {
  /** What is new; nothing where nothing is. */
  readonly children: ReactNode
  readonly show: () => void
}

/** A line that something new is there, with a button that shows it. */
export function News({ children, show }: NewsProps) {
  return (
    <div role="status">
      {children && (
        <p className={styles.news}>
          {children}:{' '}
          <button type="button" onClick={show}>
            show
          </button>
        </p>
      )}
    </div>
  )
}

/** The slug of the prompt, the testset or whatever it is about. */
function nameOf({ references }: LiveEvent): string {
  return Object.entries(references).find(([level]) => !level.includes('_'))?.[1]?.slug ?? ''
}

function sentenceOf(event: LiveEvent): string {
  const { kind, action, references, author } = event
  const version = revisionIn(event)?.version
  const what =
    kind === 'deployment'
      ? `${references['environment']?.slug ?? 'An environment'} changed`
      : version !== undefined
        ? `v${version}`
        : `${kind} ${action.replace('_', ' ')}`
  return author ? `${what} by ${authorName(author)}` : what
}
