import { Link } from '@tanstack/react-router'
import type { Evaluation } from '../../parts/evaluation/evaluation-state.tsx'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import { places } from '../../shell/places.ts'
import styles from './evaluation.module.css'

/** What a run is of, each with its version: all of it is pinned when it begins. */
export function RunFacts({ run }: { readonly run: Evaluation }) {
  const { application, testset, evaluators, concurrency, outputs_from: source } = run
  return (
    <dl className={styles.facts}>
      <div>
        <dt>Prompt</dt>
        <dd>
          <Link to={places.artifact(application.artifact_slug)}>{application.artifact_slug}</Link>
          <RevisionChip
            to={places.revision(application.artifact_slug, application.revision_slug)}
            version={application.version}
          />
        </dd>
      </div>
      <div>
        <dt>Testset</dt>
        <dd>
          <Link to={places.testset(testset.artifact_slug)}>{testset.artifact_slug}</Link>
          <span>v{testset.version}</span>
        </dd>
      </div>
      <div>
        <dt>Judged by</dt>
        <dd>
          {evaluators.map(({ name, artifact_slug: slug, revision_slug: revision, version }) => (
            <span key={name} className={styles.judge}>
              <Link to={places.artifact(slug)}>{slug}</Link>
              <RevisionChip to={places.revision(slug, revision)} version={version} />
            </span>
          ))}
          {evaluators.length === 0 && <span>nobody</span>}
        </dd>
      </div>
      {source !== undefined && (
        <div>
          <dt>Outputs</dt>
          <dd>
            <Link to={places.evaluation(source)}>those of an older run</Link>
          </dd>
        </div>
      )}
      <div>
        <dt>Rows at once</dt>
        <dd>{concurrency}</dd>
      </div>
    </dl>
  )
}
