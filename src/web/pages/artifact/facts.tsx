import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Artifact, artifactKind } from '../../api/kinds.ts'
import { useRoute } from '../../api/use-route.ts'
import { authorName, EnvironmentDot } from '../../parts/chips/chips.tsx'
import { Dependents } from '../../parts/dependents/dependents.tsx'
import { type Deployment, useEnvironments, versionsBehind } from '../../parts/deploy/use-deployments.ts'
import { EvaluationState, percent, shownScore } from '../../parts/evaluation/evaluation.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { places } from '../../shell/places.ts'
import styles from './artifact.module.css'
import type { Shown } from './use-artifact.ts'

export interface PromptFactsProps {
  readonly artifact: Artifact
  readonly shown: Shown
  /** How code gets it. */
  readonly children: ReactNode
}

/** The column beside the prompt: where it is deployed, its last evaluation, how code gets it, and what embeds it. */
export function PromptFacts({ artifact, shown, children }: PromptFactsProps) {
  const { slug, id } = artifact
  const { word } = artifactKind(artifact)
  return (
    <aside className={styles.aside} aria-label={`What the ${word} does`}>
      <Deployed slug={slug} deployments={shown.deployments} />
      {word === 'prompt' && <LastEvaluation slug={slug} id={id} />}
      {children}
      <Dependents of={{ workflow_ref: { slug } }} embedsOnly />
    </aside>
  )
}

interface DeployedProps {
  readonly slug: string
  readonly deployments: readonly Deployment[]
}

/** Each environment with the version that it runs, its age and who deployed it. */
function Deployed({ slug, deployments }: DeployedProps) {
  const environments = useEnvironments()
  const running = new Map(deployments.map((it) => [it.environment.slug, it]))
  const all = new Set([...environments, ...running.keys()])
  return (
    <section>
      <h2>Deployed</h2>
      <ul className={styles.deployed}>
        {[...all].map((environment) => {
          const here = running.get(environment)
          return (
            <li key={environment}>
              <EnvironmentDot slug={environment} />
              {here ? (
                <DeployedVersion slug={slug} deployment={here} />
              ) : (
                <span className="muted-small">not deployed</span>
              )}
            </li>
          )
        })}
      </ul>
      <Link to={places.environments()} search={{ artifact: slug } as never}>
        All deployments
      </Link>
    </section>
  )
}

function DeployedVersion({
  slug,
  deployment: { revision, variant, behind = 0, since, environment },
}: {
  readonly slug: string
  readonly deployment: Deployment
}) {
  if (!revision) return null
  return (
    <span className={styles.running}>
      <span>
        <Link to={places.revision(slug, revision.slug)} title={revision.subject}>
          <b>v{revision.version}</b>
        </Link>
        {variant && variant.slug !== slug && <bdi> of {variant.slug}</bdi>}
        {behind > 0 && variant && (
          <Link
            to={places.compare(slug, `e:${environment.slug}`, `v:${variant.slug}`)}
            className={styles.behind}
          >
            {versionsBehind(behind)}
          </Link>
        )}
      </span>
      <span className="muted-small" title={since.message}>
        <Ago date={since.date} inSentence /> · <bdi>{authorName(since.author)}</bdi>
      </span>
    </span>
  )
}

/** Among how many of the newest evaluations the page looks for one that ran all rows. */
const LOOKED_AT = 20

/** The newest evaluation of all rows of a testset: of which version, its results by evaluator, and when it was. */
function LastEvaluation({ slug, id }: { readonly slug: string; readonly id: string }) {
  const { data, error } = useRoute('POST /evaluations/query', {
    body: { evaluation: { application_id: id }, windowing: { limit: LOOKED_AT, order: 'descending' } },
  })
  const last = data?.evaluations.find((it) => it.testcase_ids === undefined)
  return (
    <section>
      <h2>Last evaluation</h2>
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton label="Loading the last evaluation" lines={2} />}
      {data && !last && <p className="muted-small">Not evaluated yet.</p>}
      {last && (
        <>
          <p className={styles.evaluation}>
            <Link to={places.evaluation(last.id)}>
              v{last.application.version} on {last.testset.artifact_slug} v{last.testset.version}
            </Link>
            <EvaluationState state={last.state} />
            <span className="muted-small">
              <Ago date={last.created_at} inSentence />
            </span>
          </p>
          <dl className={styles.results}>
            {last.evaluators.map(({ name, artifact_slug: evaluator, version }) => {
              const of = last.summary.evaluators[name]
              const judged = of?.success_rate !== null && of !== undefined
              return (
                <div key={name}>
                  <dt>
                    {evaluator} v{version}
                  </dt>
                  <dd>
                    {judged && `${percent(of.success_rate)} passed`}
                    {judged && of.mean_score !== null && ' · '}
                    {of?.mean_score !== undefined &&
                      of.mean_score !== null &&
                      `score ${shownScore(of.mean_score)}`}
                    {!judged && (of?.mean_score ?? null) === null && 'no result'}
                    {of !== undefined && of.errors > 0 && ` · ${of.errors.toLocaleString()} errors`}
                  </dd>
                </div>
              )
            })}
          </dl>
          <Link to={places.evaluations()} search={{ application: slug } as never}>
            All evaluations
          </Link>
        </>
      )}
    </section>
  )
}
