import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { places } from '../../shell/places.ts'
import { Ago } from '../time/time.tsx'
import styles from './chips.module.css'

interface RevisionChipProps {
  /** The page of the revision. */
  readonly to: string
  readonly version: number
  /** The commit, if known; seven digits are shown. */
  readonly commit?: string | undefined
  readonly author?: string | undefined
  readonly date?: string | undefined
  /** The tooltip. */
  readonly subject?: string | undefined
  /** The slugs of the environments that run it. */
  readonly environments?: readonly string[]
}

/** A revision: `v12 · 3f2a91c · Pat · 2 h`, and the environments that run it. */
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

interface WorkflowChipProps {
  /** The slug of its artifact. */
  readonly artifact: string
  readonly revision: Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']
}

/** A revision of a prompt, an evaluator or a workflow, with a link to its page. */
export function WorkflowChip({ artifact, revision }: WorkflowChipProps) {
  return (
    <RevisionChip
      to={places.revision(artifact, revision.slug)}
      version={Number(revision.version)}
      author={revision.author}
      date={revision.date}
      subject={revision.subject}
    />
  )
}

/** An environment: a coloured dot and its name. */
export function EnvironmentDot({ slug }: { readonly slug: string }) {
  return (
    <Link
      to="/env/$slug"
      params={{ slug }}
      className={`pill ${styles.environment}`}
      title={`Runs in ${slug}`}
    >
      <span aria-hidden className={styles.dot} style={{ background: hueOf(slug) }} />
      {slug}
    </Link>
  )
}

/** The colour of an environment, one of six that colour-blind people can tell apart. */
export function hueOf(slug: string): string {
  const known = KNOWN.indexOf(slug)
  if (known >= 0) return `var(--env-${known})`
  let hash = 7
  for (const character of slug) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 4093
  return `var(--env-${3 + (hash % 3)})`
}

/** The environments of every new project have different colours. */
const KNOWN = ['development', 'staging', 'production']

/** The name in `Name <email>`. */
export function authorName(author: string): string {
  return author.replace(/\s*<[^<>]*>\s*$/, '') || author
}
