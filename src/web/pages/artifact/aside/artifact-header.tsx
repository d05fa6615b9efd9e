import { Fold } from '../../../parts/fold/fold.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Ago } from '../../../parts/time/ago.tsx'
import styles from '../artifact.module.css'
import type { Artifact } from '../../../api/artifact-kind.ts'

/** What the artifact says of itself. */
export function ArtifactHeader({ artifact }: { readonly artifact: Artifact }) {
  const { description, tags = {}, meta, flags = {}, created_at: createdAt, id } = artifact
  const set = Object.entries(flags).flatMap(([name, isSet]) =>
    isSet === true ? [name.replace('is_', '')] : [],
  )
  return (
    <section aria-label="Header">
      {description !== undefined && description !== '' && (
        <div className={styles.description} dir="auto">
          <Fold text={description} lines={6} />
        </div>
      )}
      <ul className={styles.tags}>
        {set.map((name) => (
          <li key={`flag ${name}`}>{name}</li>
        ))}
        {Object.entries(tags)
          .slice(0, MOST)
          .map(([name, value]) => (
            <li key={`tag ${name}`} title={`${name}: ${shown(value, 1000)}`}>
              <bdi>{name.slice(0, 60)}</bdi>: <bdi>{shown(value, 60)}</bdi>
            </li>
          ))}
        {Object.keys(tags).length > MOST && <li>{Object.keys(tags).length - MOST} more</li>}
      </ul>
      {meta !== undefined && Object.keys(meta).length > 0 && <JsonView name="meta" value={meta} depth={0} />}
      <p className={styles.muted}>
        Made <Ago date={createdAt} inSentence /> · <code title="The id">{id}</code>
      </p>
    </section>
  )
}

const MOST = 12

function shown(value: unknown, longest: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
