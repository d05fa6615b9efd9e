import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Command as List } from 'cmdk'
import {
  Activity,
  Boxes,
  FlaskConical,
  type LucideIcon,
  MessageSquareText,
  Rocket,
  Scale,
  Settings,
  Table2,
} from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useState, useDeferredValue, useEffect } from 'react'
import { FAMILIES, placeOfHit, SEARCHED_AGAIN, type SearchHit, wordOfKind } from '../api/kinds.ts'
import { useRoute } from '../api/use-route.ts'
import { Modal } from '../parts/dialog/dialog.tsx'
import { Highlighted } from '../parts/text/text.tsx'
import { Announcements } from './announcements.tsx'
import { useCommands, shownKeys, useAllCommands } from './commands.tsx'
import { useConnection } from './live.tsx'
import { useRefusal } from './session.tsx'
import dialog from '../parts/dialog/dialog.module.css'
import styles from './frame.module.css'

interface Place {
  readonly label: string
  readonly icon: LucideIcon
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly count?: number | undefined
  readonly keys?: string
  /** The prefix of its pages' addresses, if not its own. */
  readonly under?: string
}

/** The frame around the pages: navigation, palette, list of keys. */
export function Frame() {
  // The server counts everything for it: what the page itself shows comes first.
  const { data } = useRoute('GET /projects/current', {}, { enabled: useCalm() })
  const counts = data?.project.counts
  const places: readonly Place[] = [
    { label: 'Home', icon: Boxes, to: '/', keys: 'g h' },
    {
      label: 'Prompts',
      icon: MessageSquareText,
      to: '/',
      search: { kind: 'applications' },
      count: counts?.applications,
      keys: 'g p',
    },
    { label: 'Evaluators', icon: Scale, to: '/', search: { kind: 'evaluators' }, count: counts?.evaluators },
    {
      label: 'Testsets',
      icon: Table2,
      to: '/',
      search: { kind: 'testsets' },
      count: counts?.testsets,
      keys: 'g t',
    },
    { label: 'Deployments', icon: Rocket, to: '/env', keys: 'g d' },
    { label: 'Evaluations', icon: FlaskConical, to: '/eval', keys: 'g r' },
    { label: 'Traces', icon: Activity, to: '/trace' },
    { label: 'Settings', icon: Settings, to: '/settings/keys', under: '/settings/' },
  ]
  const navigate = useNavigate()
  const lacking = useRefusal('write')
  const here = useLocation({ select: ({ pathname }) => pathname })
  const [open, setOpen] = useState<'palette' | 'search' | 'keys'>()
  useCommands([
    ...places.map(({ label, to, search, keys }) => ({
      id: `go ${label}`,
      title: `Go to ${label.toLowerCase()}`,
      group: 'Go to',
      ...(keys === undefined ? {} : { keys }),
      run: () => void navigate({ to, search: search ?? {} }),
    })),
    ...FAMILIES.map(({ kind, one }) => ({
      id: `make ${kind}`,
      title: `New ${one}`,
      group: 'Make',
      refusal: lacking,
      run: () => void navigate({ to: '/', search: { make: kind } as never }),
    })),
    {
      id: 'palette',
      title: 'Commands',
      keys: 'mod+k',
      group: 'Everywhere',
      run: () => setOpen('palette'),
    },
    { id: 'search', title: 'Search', keys: '/', group: 'Everywhere', run: () => setOpen('search') },
    { id: 'keys', title: 'Keyboard shortcuts', keys: '?', group: 'Everywhere', run: () => setOpen('keys') },
  ])
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <nav className={styles.side} aria-label="Places">
        <Link to="/" className={styles.brand}>
          <img src="/icon.svg" alt="" width={22} height={22} />
          <span className={styles.label}>Branchpoint</span>
        </Link>
        <ul>
          {places.slice(1).map(({ label, icon: Icon, to, search, count, under }) => (
            <li key={label}>
              <Link
                to={to}
                search={search ?? {}}
                className={styles.place}
                activeProps={{ 'aria-current': 'page' }}
                {...(under !== undefined && here.startsWith(under) ? { 'aria-current': 'page' } : {})}
                activeOptions={{ includeSearch: to === '/' }}
                title={label}
              >
                <Icon size={16} aria-hidden />
                <span className={styles.label}>{label}</span>
                {count !== undefined && <span className={styles.count}>{count.toLocaleString()}</span>}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.main}>
        <ConnectionBar />
        <Announcements />
        <Outlet />
      </div>
      <Palette
        open={open === 'palette' || open === 'search'}
        searchesOnly={open === 'search'}
        close={() => setOpen(undefined)}
      />
      <KeyList open={open === 'keys'} close={() => setOpen(undefined)} />
    </div>
  )
}

/** How often it is looked whether requests are under way, in milliseconds. */
const LOOK = 300

/** Whether the page that was opened first had its answers. */
function useCalm(): boolean {
  const cache = useQueryClient()
  const [isCalm, setCalm] = useState(false)
  useEffect(() => {
    if (isCalm) return undefined
    const timer = setInterval(() => setCalm(cache.isFetching() === 0), LOOK)
    return () => clearInterval(timer)
  }, [cache, isCalm])
  return isCalm
}

/** A bar at the top while the server is unreachable. */
function ConnectionBar() {
  const connection = useConnection()
  return (
    <div role="status">
      {connection === 'lost' && (
        <p className={styles.bar}>
          The server does not answer. Drafts are kept in this browser; the page goes on by itself when it is
          back.
        </p>
      )}
    </div>
  )
}

interface PaletteProps {
  readonly open: boolean
  /** Without commands: opened by `/`. */
  readonly searchesOnly: boolean
  readonly close: () => void
}

/** Runs commands and searches: commands of the page and the frame, and a search in names, messages and texts. */
function Palette({ open, searchesOnly, close }: PaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className={dialog.overlay} />
        <Dialog.Content className={styles.palette} aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">{searchesOnly ? 'Search' : 'Commands'}</Dialog.Title>
          <Choices searchesOnly={searchesOnly} close={close} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Choices({ searchesOnly, close }: Omit<PaletteProps, 'open'>) {
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words.trim())
  const navigate = useNavigate()
  const all = useAllCommands()
  const { data, error, isFetching } = useRoute(
    'POST /search',
    { body: { query: asked, windowing: { limit: 12 } } },
    { enabled: asked.length > 1, keepPrevious: true, refetchInterval: SEARCHED_AGAIN },
  )
  const hits = asked.length > 1 ? (data?.hits ?? []) : []
  const wanted = words.trim().toLowerCase()
  const commands = searchesOnly ? [] : all.filter(({ title }) => title.toLowerCase().includes(wanted))
  const choose = (run: () => void) => () => {
    close()
    run()
  }
  return (
    <List
      label={searchesOnly ? 'Words to search for' : 'Command or words to search for'}
      shouldFilter={false}
      loop
    >
      <List.Input
        className={styles.input}
        value={words}
        onValueChange={setWords}
        placeholder={searchesOnly ? 'Search names, messages and texts' : 'Go to, do, or search'}
      />
      <List.List className={styles.list}>
        {commands.length === 0 && hits.length === 0 && (
          <p className={styles.empty} role="status">
            {error
              ? error.message
              : isFetching
                ? 'Searching …'
                : wanted === ''
                  ? 'Type to search.'
                  : 'No results.'}
          </p>
        )}
        {commands.length > 0 && (
          <List.Group heading="Commands">
            {commands.map(({ id, title, keys, refusal, run }) => (
              <List.Item
                key={id}
                value={`command ${id}`}
                disabled={refusal !== undefined}
                onSelect={choose(run)}
              >
                <span>{title}</span>
                {refusal !== undefined && <span className={styles.note}>{refusal}</span>}
                {keys !== undefined && <kbd>{shownKeys(keys)}</kbd>}
              </List.Item>
            ))}
          </List.Group>
        )}
        {hits.length > 0 && (
          <List.Group heading="Found">
            {hits.map((hit, at) => (
              <List.Item
                key={at}
                value={`hit ${at} ${hit.artifact.id}`}
                onSelect={choose(() => void navigate(placeOfHit(hit)))}
              >
                <Hit hit={hit} />
              </List.Item>
            ))}
          </List.Group>
        )}
        {asked.length > 1 && commands.length === 0 && hits.length === 0 && !isFetching && (
          <List.Group heading="Elsewhere">
            <List.Item
              value="archived"
              onSelect={choose(
                () => void navigate({ to: '/', search: { q: asked, archived: '1' } as never }),
              )}
            >
              <span>Search archived items, too</span>
            </List.Item>
          </List.Group>
        )}
      </List.List>
    </List>
  )
}

function Hit({ hit }: { readonly hit: SearchHit }) {
  return (
    <span className={styles.hit}>
      <span>
        <b dir="auto">{hit.artifact.name ?? hit.artifact.slug}</b>{' '}
        <span className={styles.note}>
          {wordOfKind(hit.kind)} <code>{hit.artifact.slug}</code>
        </span>
      </span>
      <span className="two-lines muted-small" dir="auto">
        <Highlighted text={hit.excerpt} ranges={hit.ranges} />
      </span>
    </span>
  )
}

/** All current keys. */
function KeyList({ open, close }: { readonly open: boolean; readonly close: () => void }) {
  const commands = useAllCommands().filter(({ keys }) => keys !== undefined)
  const groups = [...new Set(commands.map(({ group = 'On this page' }) => group))]
  return (
    <Modal open={open} close={close} title="Keyboard shortcuts">
      {groups.map((name) => (
        <section key={name} className={styles.keyGroup}>
          <h3>{name}</h3>
          <dl>
            {commands
              .filter(({ group = 'On this page' }) => group === name)
              .map(({ id, title, keys = '' }) => (
                <div key={id}>
                  <dt>{title}</dt>
                  <dd>
                    <kbd>{shownKeys(keys)}</kbd>
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Modal>
  )
}
