import { Link } from '@tanstack/react-router'
import { EnvironmentDot } from '../environment/environment-dot.tsx'
import { Ago } from '../time/ago.tsx'
import { authorName } from './author-name.ts'
import styles from './revision-chip.module.css'

export interface RevisionChipProps {
  /** The page of the revision. */
  readonly to: string
  readonly version: number
  /** Its commit, as long as it is known; the first seven digits are shown. */
  readonly commit?: string | undefined
  readonly author?: string | undefined
  readonly date?: string | undefined
  /** What is shown on hover. */
  readonly subject?: string | undefined
  /** Slugs of the environments that run it. */
  readonly environments?: readonly string[]
}

/** A revision, the same everywhere: `v12 · 3f2a91c · Pat · 2 h`, and where it runs. */
export function RevisionChip({
  to,
  version,
  commit,
  author,
  date,
  subject,
  environments = [],
}: RevisionChipProps) {
  return (
    <span className={styles.chip}>
      <Link to={to} title={subject}>
        <b>v{version}</b>
        {commit !== undefined && <code>{commit.slice(0, 7)}</code>}
      </Link>
      {author !== undefined && <bdi title={author}>{authorName(author)}</bdi>}
      {date !== undefined && <Ago date={date} />}
      {environments.map((slug) => (
        <EnvironmentDot key={slug} slug={slug} />
      ))}
    </span>
  )
}
