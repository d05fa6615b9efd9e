import { type Artifact, artifactKind } from '../../../api/artifact-kind.ts'
import { Button } from '../../../parts/button/button.tsx'
import { LinkButton } from '../../../parts/button/link-button.tsx'
import type { Archivable } from '../../../parts/archive/archivable.ts'
import { BringBack } from '../../../parts/archive/archived.tsx'
import styles from '../artifact.module.css'
import type { Commit, Picks } from './use-picks.ts'

export interface PickedProps {
  readonly picks: Picks
  readonly fork: () => void
  readonly forkRefusal: string | undefined
  readonly artifact: Artifact
  /** Asks whether something is to be archived. */
  readonly archive: (it: Archivable) => void
}

/** What can be done with what is picked, below the history. */
export function Picked({ picks, fork, forkRefusal, artifact, archive }: PickedProps) {
  const { slugs, commits, compare, clear } = picks
  const [only] = slugs.length === 1 ? commits : []
  return (
    <div role="status" className={styles.picked} data-empty={slugs.length === 0 || undefined}>
      {slugs.length === 0 ? (
        <span className={styles.muted}>
          Pick two revisions to compare them
          <span className={styles.keys}>
            : <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Space</kbd> picks, <kbd>c</kbd> compares
          </span>
        </span>
      ) : (
        <>
          <span className={styles.pickedNames}>
            {slugs.map((slug) => (
              <code key={slug}>{slug}</code>
            ))}
            {slugs.length === 1 && <span className={styles.muted}>Pick another one to compare.</span>}
          </span>
          <Button kind="quiet" onClick={clear}>
            Pick none
          </Button>
          {slugs.length === 1 && (
            <Button
              onClick={fork}
              refusal={forkRefusal ?? (commits.length === 0 ? 'It is not loaded yet.' : undefined)}
            >
              Fork from here …
            </Button>
          )}
          {only?.variant &&
            (only.archived ? (
              <BringBack it={archivableOf(artifact, only, only.archived)} />
            ) : (
              <Button needs="write" onClick={() => archive(archivableOf(artifact, only, 'revision'))}>
                Archive v{only.version} …
              </Button>
            ))}
          {compare !== undefined && (
            <LinkButton to={compare}>
              Compare <kbd>c</kbd>
            </LinkButton>
          )}
        </>
      )}
    </div>
  )
}

/** The commit itself, its variant, or the artifact. */
function archivableOf(artifact: Artifact, commit: Commit, level: Archivable['level']): Archivable {
  const { variant, id, version } = commit
  return {
    ...{ level, family: 'workflows', artifact: artifact.slug, word: artifactKind(artifact).word },
    id: level === 'artifact' ? artifact.id : level === 'variant' ? (variant?.id ?? '') : id,
    variant: variant?.slug,
    version: Number(version),
  }
}
