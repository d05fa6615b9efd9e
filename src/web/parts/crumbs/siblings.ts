import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { places } from '../../shell/places.ts'

/** Which families have variants and versions with pages of their own. */
export type VersionedFamily = 'workflows' | 'testsets'

/** What stands beside a part of where one is. */
export type Siblings =
  | { readonly of: 'families' }
  | { readonly of: 'artifacts'; readonly family: ListedFamily }
  | {
      readonly of: 'variants'
      readonly family: VersionedFamily
      readonly artifact: string
      /** Which page of theirs they lead to, where it is not the one that shows them. */
      readonly page?: 'edit'
    }
  | {
      readonly of: 'versions'
      readonly family: VersionedFamily
      readonly artifact: string
      readonly variant: string
    }
  | { readonly of: 'environments' }

/** Families that the start lists. */
export type ListedFamily = 'applications' | 'evaluators' | 'workflows' | 'testsets' | 'queries'

export interface Sibling {
  readonly label: string
  readonly note?: string
  readonly to: string
}

export interface SiblingList {
  readonly items: readonly Sibling[]
  /** Where the others are, when there are more. */
  readonly all?: Sibling
}

/** So many are offered; the rest is on the page of their list. */
const MOST = 40

/** What one of the siblings is called, and the keys that open their list. */
export const SIBLINGS_OF = {
  families: { one: 'family', keys: 'g f' },
  artifacts: { one: 'artifact', keys: 'g a' },
  variants: { one: 'variant', keys: 'g v' },
  versions: { one: 'version', keys: 'g n' },
  environments: { one: 'environment', keys: 'g e' },
} as const

/** The siblings, asked for while `isWanted`. */
export function useSiblings(siblings: Siblings, isWanted: boolean) {
  return useQuery({
    queryKey: ['siblings', siblings],
    queryFn: () => load(siblings),
    enabled: isWanted,
    staleTime: 2000,
  })
}

const FAMILIES: readonly (readonly [ListedFamily, string])[] = [
  ['applications', 'Prompts'],
  ['evaluators', 'Evaluators'],
  ['testsets', 'Testsets'],
  ['workflows', 'Workflows'],
  ['queries', 'Queries'],
]

async function load(siblings: Siblings): Promise<SiblingList> {
  switch (siblings.of) {
    case 'families':
      return { items: FAMILIES.map(([kind, label]) => ({ label, to: places.home(kind) })) }
    case 'artifacts':
      return artifacts(siblings.family)
    case 'variants':
      return variants(siblings)
    case 'versions':
      return versions(siblings)
    case 'environments': {
      const { environments } = await call('POST /environments/query', { body: {} })
      return { items: environments.map(({ slug }) => ({ label: slug, to: places.environment(slug) })) }
    }
  }
}

async function artifacts(family: ListedFamily): Promise<SiblingList> {
  // Every family's list is asked and answered in the same way, in its own words.
  const answer = (await call(`POST /${family}/query` as 'POST /workflows/query', {
    body: { windowing: { limit: MOST, order: '-updated' } },
  })) as Readonly<Record<string, unknown>> & { readonly windowing?: object }
  const listed = answer[family] as readonly { readonly slug: string; readonly name?: string }[]
  const placeOf =
    family === 'testsets' ? places.testset : family === 'queries' ? places.query : places.artifact
  return {
    items: listed.map(({ slug, name }) => ({
      label: slug,
      ...(name === undefined || name === slug ? {} : { note: name }),
      to: placeOf(slug),
    })),
    ...('next' in (answer.windowing ?? {}) ? { all: { label: 'All of them', to: places.home(family) } } : {}),
  }
}

async function variants({
  family,
  artifact,
  page,
}: Extract<Siblings, { of: 'variants' }>): Promise<SiblingList> {
  const windowing = { limit: MOST, order: 'created' } as const
  const placeOf = (variant: string): string =>
    page === 'edit' ? places.edit(artifact, variant) : versionPlace(family, artifact, variant)
  const found =
    family === 'testsets'
      ? (
          await call('POST /testsets/variants/query', {
            body: { testset_refs: [{ slug: artifact }], windowing },
          })
        ).testset_variants
      : (
          await call('POST /workflows/variants/query', {
            body: { workflow_refs: [{ slug: artifact }], windowing },
          })
        ).workflow_variants
  return {
    items: found.map(({ slug }) => ({ label: slug, to: placeOf(slug) })),
    ...(found.length < MOST ? {} : { all: { label: 'All variants', to: artifactPlace(family, artifact) } }),
  }
}

async function versions({
  family,
  artifact,
  variant,
}: Extract<Siblings, { of: 'versions' }>): Promise<SiblingList> {
  const windowing = { limit: MOST }
  const found =
    family === 'testsets'
      ? (
          await call('POST /testsets/revisions/log', {
            body: { testset_ref: { slug: artifact }, testset_variant_ref: { slug: variant }, windowing },
          })
        ).testset_revisions
      : (
          await call('POST /workflows/revisions/log', {
            body: { workflow_ref: { slug: artifact }, workflow_variant_ref: { slug: variant }, windowing },
          })
        ).workflow_revisions
  return {
    items: found.map(({ version, message, subject }) => ({
      label: `v${version}`,
      note: message ?? subject,
      to: versionPlace(family, artifact, variant, Number(version)),
    })),
    ...(found.length < MOST ? {} : { all: { label: 'All versions', to: artifactPlace(family, artifact) } }),
  }
}

function artifactPlace(family: VersionedFamily, artifact: string): string {
  return family === 'testsets' ? places.testset(artifact) : places.artifact(artifact)
}

function versionPlace(family: VersionedFamily, artifact: string, variant: string, version?: number): string {
  return family === 'testsets'
    ? places.testsetVersion(artifact, variant, version)
    : places.version(artifact, variant, version)
}
