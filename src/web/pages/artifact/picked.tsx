import { useNavigate } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { type Artifact, artifactKind } from '../../api/kinds.ts'
import { type Archivable, BringBack } from '../../parts/archive/archive.tsx'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { Menu, type MenuItem } from '../../parts/menu/menu.tsx'
import { useUndo } from '../../parts/undo/undo.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import styles from './artifact.module.css'

export interface PickedProps {
  readonly picks: Picks
  readonly fork: () => void
  readonly forkRefusal: string | undefined
  readonly deploy: (what: End) => void
  readonly artifact: Artifact
  /** Opens the dialog that archives something. */
  readonly archive: (it: Archivable) => void
}

/** The actions for the picked versions, below the history. */
export function Picked({ picks, fork, forkRefusal, deploy, artifact, archive }: PickedProps) {
  const { slugs, commits, compare, clear } = picks
  const [only] = slugs.length === 1 ? commits : []
  const end = only && endOf(only)
  const mayNotWrite = useRefusal('write')
  const name = `v${only?.version}`
  const undo = useUndo(
    only?.variant && {
      ...{ family: 'workflow', slug: artifact.slug, id: only.id, variant: only.variant.slug },
      version: Number(only.version),
    },
  )
  const items: readonly MenuItem[] = only
    ? [
        {
          label: 'New variant from here …',
          refusal: forkRefusal,
          run: fork,
        },
        ...undo.items,
        {
          label: `Archive ${name} …`,
          refusal: mayNotWrite,
          run: () => archive(archivableOf(artifact, only, 'revision')),
        },
      ]
    : []
  return (
    <div role="status" className={styles.picked} data-empty={slugs.length === 0 || undefined}>
      {slugs.length === 0 ? (
        <span className="muted-small">
          Pick a version to deploy or undo it, two to compare them
          <span className={styles.keys}>
            : <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Space</kbd> picks, <kbd>c</kbd> compares, <kbd>d</kbd>{' '}
            deploys
          </span>
        </span>
      ) : (
        <>
          <span className={styles.pickedNames}>
            {slugs.map((slug) => (
              <code key={slug}>{slug}</code>
            ))}
            {slugs.length === 1 && <span className="muted-small">Pick another one to compare.</span>}
          </span>
          <Button kind="quiet" onClick={clear}>
            Pick none
          </Button>
          {only?.archived && <BringBack it={archivableOf(artifact, only, only.archived)} />}
          {end && !only.archived && (
            <>
              <Menu label={`More for ${name}`} title={`Actions for ${name}`} items={items} />
              <Button onClick={() => deploy(end)}>Deploy {name} …</Button>
            </>
          )}
          {undo.dialogs}
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

/** A version in the history. */
export type Commit = Answer<'POST /workflows/graph'>['nodes'][number]

/** The commits selected for a comparison, at most two. They are in the address, by slug, newest first. */
export interface Picks {
  readonly slugs: readonly string[]
  /** The loaded ones of them. */
  readonly commits: readonly Commit[]
  readonly search: Readonly<Record<string, string>>
  readonly has: (commit: Commit) => boolean
  readonly toggle: (commit: Commit) => void
  readonly clear: () => void
  /** The address of the comparison; undefined unless two are selected. */
  readonly compare: string | undefined
}

/** The picked commits, kept in the address. */
export function usePicks(commits: readonly Commit[], slug: string): Picks {
  const { picked = '' } = useAddress()
  const navigate = useNavigate()
  const slugs = picked === '' ? [] : picked.split(',').slice(0, 2)
  const set = (to: readonly string[]): void => {
    const placed = to.map((it) => [commits.findIndex((commit) => slugOf(commit) === it), it] as const)
    const newestFirst = placed.sort(([a], [b]) => a - b).map(([, it]) => it)
    void navigate({
      to: '.',
      search: ((kept: object) => ({ ...kept, picked: newestFirst.join(',') })) as never,
      replace: true,
    })
  }
  const [newer, older] = slugs
  return {
    slugs,
    commits: commits.filter((commit) => slugs.includes(slugOf(commit))),
    search: picked === '' ? {} : { picked },
    has: (commit) => slugs.includes(slugOf(commit)),
    toggle: (commit) => {
      const one = slugOf(commit)
      if (slugs.includes(one)) set(slugs.filter((it) => it !== one))
      // A third one replaces the one selected first.
      else if (commit.variant) set([...slugs, one].slice(-2))
    },
    clear: () => slugs.length > 0 && set([]),
    compare:
      newer === undefined || older === undefined
        ? undefined
        : places.compare(slug, `r:${older}`, `r:${newer}`),
  }
}

/** The slug that every revision has beside chosen ones (interface 4.12); the commit itself if it is on no variant. */
export function slugOf({ variant, version, commit }: Commit): string {
  return variant ? `${variant.slug}-${version}` : commit
}

/** The version as an end of a comparison; undefined if it is on no variant. */
export function endOf(commit: Commit): End | undefined {
  return commit.variant && { kind: 'revision', slug: slugOf(commit) }
}
