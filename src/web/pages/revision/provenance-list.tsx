import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { Ago } from '../../parts/time/time.tsx'
import { EnvironmentDot, authorName } from '../../parts/chips/chips.tsx'
import { places } from '../../shell/places.ts'
import styles from './revision.module.css'
import type { ReactNode } from 'react'

type Provenance = Answer<'GET /workflows/revisions/{id}/provenance'>['provenance']

export interface ProvenanceListProps {
  readonly slug: string
  readonly variant: string
  readonly version: number
  readonly provenance: Provenance
}

/** The origin of the revision, and the environments that run it. */
export function ProvenanceList({ slug, variant, version, provenance }: ProvenanceListProps) {
  const { commit, author, committer, date, signature, parents, arrival, trailers, environments } = provenance
  const { idempotency_key: once, deploy } = trailers
  return (
    <>
      <section>
        <h2>Origin</h2>
        <dl className={styles.facts}>
          <Fact name="Git commit">
            <code title={commit}>{commit.slice(0, 12)}</code>
          </Fact>
          <Fact name="Author">
            <bdi>{author}</bdi>
          </Fact>
          {committer !== author && (
            <Fact name="Committer">
              <bdi>{committer}</bdi>
            </Fact>
          )}
          <Fact name="Date">
            <Ago date={date} inSentence />
          </Fact>
          <Fact name="Signature">
            {SIGNATURES[signature.status]} {signature.key !== undefined && <code>{signature.key}</code>}
          </Fact>
          {arrival !== null && <Fact name="Arrived">{arrivedBy(arrival)}</Fact>}
          <Fact name={parents.length > 1 ? 'Parents' : 'Parent'}>
            {parents.length === 0
              ? 'none (first version)'
              : parents.map((parent, at) => (
                  <span key={parent} className={styles.parent}>
                    {at === 0 ? (
                      <Link to={places.version(slug, variant, version - 1)} title={parent}>
                        v{version - 1} <code>{parent.slice(0, 7)}</code>
                      </Link>
                    ) : (
                      <code title={`${parent}: merged in`}>{parent.slice(0, 7)}</code>
                    )}
                  </span>
                ))}
          </Fact>
          {once !== undefined && (
            <Fact name="Idempotency key">
              <code>{once}</code>
            </Fact>
          )}
          {deploy !== undefined && <Fact name="Deployed when saved">{deploy}</Fact>}
        </dl>
      </section>
      <section>
        <h2>Deployments</h2>
        {environments.length === 0 && <p className="muted-small">Not deployed.</p>}
        <ul className="lines">
          {environments.map(({ environment, key, since }) => (
            <li key={`${environment?.slug} ${key}`}>
              {environment && <EnvironmentDot slug={environment.slug} />}
              <span className="muted-small" title={key}>
                <Ago date={since.date} />, by {authorName(since.author)}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}

const SIGNATURES = {
  good: 'valid',
  unknown_key: 'made with an unknown key',
  bad: 'invalid: the version was changed after it was signed',
  none: 'none',
} as const

function arrivedBy(arrival: NonNullable<Provenance['arrival']>): string {
  if (!('principal' in arrival)) return 'over REST'
  return `by git push of ${arrival.principal.name}, ${new Date(arrival.time).toLocaleString()}`
}

/** A fact with its name, inside of a `<dl>`. */
function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
