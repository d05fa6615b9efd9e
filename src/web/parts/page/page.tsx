import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { shownKeys, useAllCommands } from '../../shell/commands.tsx'
import { useConnection } from '../../shell/live.ts'
import { useSession } from '../../shell/session.tsx'
import { CrumbMenu } from '../crumbs/crumb-menu.tsx'
import type { Siblings } from '../crumbs/siblings.ts'
import styles from './page.module.css'

/** A part of where one is: a link, and where it has siblings a menu of them. */
export interface Crumb {
  readonly label: string
  readonly to?: string
  readonly siblings?: Siblings
}

export interface PageProps {
  /** From the widest to what is shown; the last one is the page's heading, unless `heading` is. */
  readonly crumbs: readonly Crumb[]
  /** What stands beside the heading. */
  readonly about?: ReactNode
  /** The page's buttons, the primary one last. */
  readonly actions?: ReactNode
  /** Uses the whole width: grids, diffs and boards. */
  readonly wide?: boolean
  /** Fills the height by itself: the content scrolls in parts of its own. */
  readonly fills?: boolean
  readonly children: ReactNode
}

/** A page inside the frame: where one is, its heading with actions, and its content. */
export function Page({ crumbs, about, actions, wide = false, fills = false, children }: PageProps) {
  const title = crumbs.at(-1)?.label ?? ''
  useEffect(() => {
    document.title = [...crumbs.map(({ label }) => label).reverse(), 'Branchpoint'].join(' · ')
  })
  return (
    <>
      <header className={styles.bar}>
        <nav className={styles.crumbs} aria-label="Where you are">
          <ol>
            {crumbs.map((crumb, at) => (
              <li key={at}>
                {at > 0 && <span aria-hidden>▸</span>}
                <CrumbPart crumb={crumb} isHere={at === crumbs.length - 1} />
              </li>
            ))}
          </ol>
        </nav>
        <SearchButton />
        <Standing />
      </header>
      <main id="content" tabIndex={-1} className={fills ? styles.filled : styles.content}>
        <div
          className={[styles.inner, wide || fills ? '' : styles.reading, fills ? styles.fills : ''].join(' ')}
        >
          <div className={styles.heading}>
            <h1 dir="auto">{title}</h1>
            {about !== undefined && <div className={styles.about}>{about}</div>}
            {actions !== undefined && <div className={styles.actions}>{actions}</div>}
          </div>
          {children}
        </div>
      </main>
    </>
  )
}

interface CrumbPartProps {
  readonly crumb: Crumb
  readonly isHere: boolean
}

function CrumbPart({ crumb: { label, to, siblings }, isHere }: CrumbPartProps) {
  const current = isHere ? 'page' : undefined
  return (
    <>
      {to === undefined ? (
        <span className={styles.crumb} aria-current={current} dir="auto">
          {label}
        </span>
      ) : (
        <Link className={styles.crumb} to={to} aria-current={current} dir="auto">
          {label}
        </Link>
      )}
      {siblings && <CrumbMenu siblings={siblings} here={label} />}
    </>
  )
}

function SearchButton() {
  const commands = useAllCommands()
  return (
    <button
      type="button"
      className={styles.search}
      onClick={() => commands.find(({ id }) => id === 'palette')?.run()}
    >
      <Search size={14} aria-hidden />
      <span>Search</span>
      <kbd>{shownKeys('mod+k')}</kbd>
    </button>
  )
}

/** Whether changes of others arrive, and who is signed in. */
function Standing() {
  const connection = useConnection()
  const { principal, project } = useSession()
  return (
    <div className={styles.standing}>
      <span className={styles[connection]} title={WHAT[connection]}>
        <span aria-hidden>●</span> <span className={styles.word}>{connection}</span>
      </span>
      <Link to="/settings/session" title={`Signed in with the key "${principal.name}", project ${project}`}>
        <bdi>{principal.name}</bdi>
      </Link>
    </div>
  )
}

const WHAT = {
  live: 'Changes of others show up by themselves.',
  connecting: 'The connection for changes of others is being made.',
  lost: 'Changes of others do not show up now; the page tries again.',
  refused: 'The server gives no events now, so changes of others do not show up; the page tries again.',
} as const
