import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight, Link2 } from 'lucide-react'
import { useState } from 'react'
import type { Ask } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { places } from '../../shell/places.ts'
import { Fold } from '../fold/fold.tsx'
import { JsonView } from '../json/json-view.tsx'
import { Failure } from '../states/failure.tsx'
import { sourceOf } from './embed-source.ts'
import styles from './prompt.module.css'

type Resolve = Ask<'POST /workflows/revisions/resolve'>

/** What is embedded: folded to where it comes from; unfolded, what it is now. */
export function Embed({ of }: { readonly of: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const { name, path } = sourceOf(of)
  return (
    <span className={styles.embed}>
      <button
        type="button"
        aria-expanded={isOpen}
        className={styles.embedHead}
        title={typeof of === 'string' ? of : JSON.stringify(of)}
        onClick={() => setOpen(!isOpen)}
      >
        <Link2 size={13} aria-hidden />
        <span className="visually-hidden">Embedded: </span>
        {name}
        {path !== undefined && <span className={styles.path}>{path}</span>}
        {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
      </button>
      {isOpen && <Embedded of={of} />}
    </span>
  )
}

function Embedded({ of }: { readonly of: unknown }) {
  const { artifact, environment } = sourceOf(of)
  const body = {
    workflow_revision: { data: { parameters: { value: of } } },
    error_policy: 'exception',
  } as Resolve['body']
  const { data, error } = useRoute('POST /workflows/revisions/resolve', { body })
  if (error) return <Failure error={error} />
  if (!data) return <span className={styles.from}>Looking it up …</span>
  const resolved = data.workflow_revision.data as { readonly parameters?: { readonly value?: unknown } }
  const value = resolved.parameters?.value
  const [used] = data.resolution_info.references_used
  return (
    <span className={styles.embedded}>
      {typeof value === 'string' ? <Fold text={value} /> : <JsonView value={value} />}
      <span className={styles.from}>
        {typeof used === 'object' && <UsedRevision used={used} />}
        {artifact !== undefined && <Link to={places.artifact(artifact)}>{artifact}</Link>}
        {environment !== undefined && <Link to={places.environment(environment)}>{environment}</Link>}
      </span>
    </span>
  )
}

/** The revision that was taken now. */
function UsedRevision({ used }: { readonly used: Readonly<Record<string, unknown>> }) {
  const revision = Object.entries(used).find(([level]) => level.endsWith('_revision'))?.[1]
  const { slug, version } = (revision ?? {}) as { readonly slug?: string; readonly version?: number }
  return version === undefined ? null : (
    <>
      now {slug ?? ''} v{version}{' '}
    </>
  )
}
