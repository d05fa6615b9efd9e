import { Button } from '../../../parts/button/button.tsx'
import { LinkButton } from '../../../parts/button/link-button.tsx'
import styles from '../artifact.module.css'
import type { Picks } from './use-picks.ts'

export interface PickedProps {
  readonly picks: Picks
  readonly fork: () => void
  readonly forkRefusal: string | undefined
}

/** What can be done with what is picked, below the history. */
export function Picked({ picks: { slugs, commits, compare, clear }, fork, forkRefusal }: PickedProps) {
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
