import { Link } from '@tanstack/react-router'
import { Check, BadgeCheck, GitBranch, ShieldAlert, ShieldQuestion, Tag } from 'lucide-react'
import { GraphLines, colourOf } from '../../../parts/graph/graph-lines.tsx'
import type { GraphRow } from '../../../parts/graph/lay-out-graph.ts'
import { authorName, EnvironmentDot } from '../../../parts/chips/chips.tsx'
import { Ago } from '../../../parts/time/time.tsx'
import { places } from '../../../shell/places.ts'
import styles from '../artifact.module.css'
import type { Commit } from './use-picks.ts'
import { ArchivedBadge } from '../../../parts/archive/archive.tsx'

export interface CommitRowProps {
  readonly index: number
  /** Where it begins, in pixels from the top of the list. */
  readonly start: number
  readonly height: number
  readonly slug: string
  readonly commit: Commit
  readonly row: GraphRow
  readonly width: number
  /** Whether keys mean this row. */
  readonly isHere: boolean
  readonly isPicked: boolean
  readonly enter: () => void
  readonly pick: () => void
}

/** A line of the history: its part of the graph, version, subject, what names it, who made it and when. */
export function CommitRow(props: CommitRowProps) {
  const { index, start, height, slug, commit, row, width, isHere, isPicked, enter, pick } = props
  const { variant, subject, author, date } = commit
  const version = Number(commit.version)
  const tabIndex = isHere ? 0 : -1
  const shown = subject.length > LONGEST ? `${subject.slice(0, LONGEST)}…` : subject
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
          title={variant ? 'Pick it to compare it, or to fork from it' : NOWHERE}
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

/** A subject is one line of any length; more of it than this is in its page. */
const LONGEST = 300

const NOWHERE =
  'Brought by a merge from a branch that is not here: the merge’s own page shows what it changed.'

interface RefsProps {
  readonly slug: string
  readonly commit: Commit
  readonly lane: number
  readonly tabIndex: number
}

const MAX_REFS_SHOWN = 6

/** What names a commit (variants, tags, environments), and what its signature is worth. */
function Refs({ slug, commit: { refs, signature, archived }, lane, tabIndex }: RefsProps) {
  return (
    <span className={styles.refs}>
      {archived && <ArchivedBadge />}
      {refs.slice(0, MAX_REFS_SHOWN).map(({ kind, name }) => {
        // A pin under a key of its own is `<environment>/<key>`.
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
            title={kind === 'tag' ? `The slug ${name}` : `The head of ${name}`}
          >
            <Icon size={12} aria-hidden />
            {name}
          </Link>
        )
      })}
      {refs.length > MAX_REFS_SHOWN && (
        <span
          className={styles.muted}
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
  unknown_key: [ShieldQuestion, 'Signed with a key that is not known'],
  bad: [ShieldAlert, 'The signature is wrong'],
  none: [ShieldQuestion, 'Not signed'],
} as const
