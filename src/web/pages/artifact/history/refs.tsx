import { Link } from '@tanstack/react-router'
import { BadgeCheck, GitBranch, ShieldAlert, ShieldQuestion, Tag } from 'lucide-react'
import { ArchivedBadge } from '../../../parts/archive/archived.tsx'
import { EnvironmentDot } from '../../../parts/environment/environment-dot.tsx'
import { colourOf } from '../../../parts/graph/graph-lines.tsx'
import { places } from '../../../shell/places.ts'
import styles from '../artifact.module.css'
import type { Commit } from './use-picks.ts'

export interface RefsProps {
  readonly slug: string
  readonly commit: Commit
  readonly lane: number
  readonly tabIndex: number
}

/** So many names of a commit are shown in its line. */
const MOST = 6

/** What names a commit (variants, tags, environments), and what its signature is worth. */
export function Refs({ slug, commit: { refs, signature, archived }, lane, tabIndex }: RefsProps) {
  return (
    <span className={styles.refs}>
      {archived && <ArchivedBadge />}
      {refs.slice(0, MOST).map(({ kind, name }) => {
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
      {refs.length > MOST && (
        <span
          className={styles.muted}
          title={refs
            .map(({ name }) => name)
            .slice(0, 100)
            .join(', ')}
        >
          and {refs.length - MOST} more
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
