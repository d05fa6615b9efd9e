import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import {
  Activity,
  Boxes,
  FlaskConical,
  GitPullRequest,
  type LucideIcon,
  MessageSquareText,
  Rocket,
  Scale,
  Settings,
  Table2,
} from 'lucide-react'
import { useState } from 'react'
import { useRoute } from '../api/use-route.ts'
import { useCommands } from './commands.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import styles from './frame.module.css'
import { KeyList } from './key-list.tsx'
import { Palette } from './palette.tsx'

interface Place {
  readonly label: string
  readonly icon: LucideIcon
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly count?: number | undefined
  readonly keys?: string
  /** What the addresses of its pages begin with, where they do not all begin with its own. */
  readonly under?: string
}

/** What stays while pages change: the places at the side, the palette, the list of keys. */
export function Frame() {
  const { data } = useRoute('GET /projects/current', {})
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
    { label: 'Deployed', icon: Rocket, to: '/env', keys: 'g d' },
    { label: 'Proposals', icon: GitPullRequest, to: '/review' },
    { label: 'Runs', icon: FlaskConical, to: '/eval', keys: 'g r' },
    { label: 'Traces', icon: Activity, to: '/trace' },
    { label: 'Settings', icon: Settings, to: '/settings/keys', under: '/settings/' },
  ]
  const navigate = useNavigate()
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
    {
      id: 'palette',
      title: 'Open the palette',
      keys: 'mod+k',
      group: 'Everywhere',
      run: () => setOpen('palette'),
    },
    { id: 'search', title: 'Search', keys: '/', group: 'Everywhere', run: () => setOpen('search') },
    { id: 'keys', title: 'List the keys', keys: '?', group: 'Everywhere', run: () => setOpen('keys') },
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
