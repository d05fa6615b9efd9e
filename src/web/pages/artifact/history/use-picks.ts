import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Answer } from '../../../api/call.ts'
import { places } from '../../../shell/places.ts'

export type Commit = Answer<'POST /workflows/graph'>['nodes'][number]

/** What is picked to be compared, two at most. It is in the address, by slug, newest first. */
export interface Picks {
  readonly slugs: readonly string[]
  /** Those of them that are loaded. */
  readonly commits: readonly Commit[]
  readonly search: Readonly<Record<string, string>>
  readonly has: (commit: Commit) => boolean
  readonly toggle: (commit: Commit) => void
  readonly clear: () => void
  /** Where the two are compared; undefined unless two are picked. */
  readonly compare: string | undefined
}

export function usePicks(commits: readonly Commit[], slug: string): Picks {
  const { picked = '' } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
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
      // A third one takes the place of the one that was picked first.
      else if (commit.variant) set([...slugs, one].slice(-2))
    },
    clear: () => slugs.length > 0 && set([]),
    compare:
      newer === undefined || older === undefined
        ? undefined
        : places.compare(slug, `r:${older}`, `r:${newer}`),
  }
}

/** The slug that a revision has whatever other ones it was given (interface 4.12); of a commit on no variant's line, its own name. */
export function slugOf({ variant, version, commit }: Commit): string {
  return variant ? `${variant.slug}-${version}` : commit
}
