import { HelpfulRefusal, type Help, nearNames } from '../../base/suggestions.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from './ids.ts'
import type { SlugLevel, WantedSlug } from '../index/slug-table.ts'
import type { Registry } from './registry.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { foldSlug, numberedBase, slugProblem } from '../slugs/slug.ts'

type Finding = () => Promise<Help | undefined>

/** The refusal for a missing artifact. */
export function artifactMissing(
  registry: Registry,
  family: Family,
  asked: { readonly id: string } | { readonly slug: string },
): HelpfulRefusal {
  const which = 'id' in asked ? `with the id ${asked.id}` : `with the slug "${asked.slug}"`
  return new HelpfulRefusal('artifact_not_found', {
    family: family.name,
    sentenceOf: (word) => `There is no ${word} ${which}.`,
    help:
      'id' in asked ? helpWithId(registry, asked.id) : () => helpWithArtifact(registry, family, asked.slug),
  })
}

/** The refusal for a missing variant; `artifact` is the artifact searched, if not all. */
export function variantMissing(
  registry: Registry,
  family: Family,
  asked: { readonly id: string } | { readonly slug: string },
  artifact?: ArtifactView,
): HelpfulRefusal {
  const which = 'id' in asked ? `with the id ${asked.id}` : `with the slug "${asked.slug}"`
  return new HelpfulRefusal('variant_not_found', {
    family: family.name,
    sentenceOf: (word) => `There is no ${word} variant ${which}.`,
    help:
      'id' in asked
        ? helpWithId(registry, asked.id)
        : () => helpWithVariant(registry, family, asked.slug, artifact),
  })
}

/** The refusal for an artifact that has no variant yet. */
export function noVariantYet({ family, slug }: ArtifactView): HelpfulRefusal {
  return new HelpfulRefusal('variant_not_found', {
    family: family.name,
    sentenceOf: (word) =>
      `There is no ${word} variant on "${slug}" yet. Create one with POST …/variants/, or push a branch.`,
  })
}

/** The refusal for a missing revision; `which` describes it. */
export function revisionMissing(family: Family, which: string, help?: Finding): HelpfulRefusal {
  return new HelpfulRefusal('revision_not_found', {
    family: family.name,
    sentenceOf: () => `There is no revision ${which}. Check the reference, or list with /query.`,
    help,
  })
}

/** Help for a missing revision of a variant: names the latest version. */
export function helpWithVersion(artifact: ArtifactView, { slug, head }: VariantView): Finding {
  return async () => {
    if (head === undefined) return { sentence: `"${slug}" has no revision yet: commit one.` }
    const { depth } = await artifact.repository.history.node(head)
    return { sentence: `The latest version of "${slug}" is ${depth}.` }
  }
}

/** Help for a variant that has no visible latest revision. */
export function helpWithLatest(artifact: ArtifactView, { slug, head }: VariantView): Finding {
  return async () => {
    if (head === undefined) return { sentence: `"${slug}" has no revision: commit one.` }
    const { depth } = await artifact.repository.history.node(head)
    return { sentence: `All of its ${depth} are archived: name one by its version, or unarchive one.` }
  }
}

/** Help for a missing revision by slug, or by slug and version, searched in `meant` or everywhere. */
export function helpWithRevision(
  registry: Registry,
  family: Family,
  slug: string,
  meant: ArtifactView | undefined,
): Finding {
  return async () => {
    if (meant?.slug === slug && meant.defaultVariant) return helpWithVersion(meant, meant.defaultVariant)()
    for (const base of [slug, numberedBase(slug)]) {
      if (base === undefined) continue
      const [owner] = meant ? [meant] : ownersOf(registry, 'variant', family, base)
      const variant = owner && variantOf(owner, base)
      if (owner && variant) return helpWithVersion(owner, variant)()
    }
    return helpWithVariant(registry, family, numberedBase(slug) ?? slug, meant)
  }
}

/** A slug given alone, and the artifact it means, though other artifacts have it too. */
export interface OtherClaims {
  readonly registry: Registry
  readonly family: Family
  readonly wanted: readonly WantedSlug[]
  readonly meant: ArtifactView | undefined
  /** The revision that the slug means in an artifact. */
  readonly placeIn: (artifact: ArtifactView) => Promise<RevisionLocation | undefined>
}

/** The oldest come first. */
const MAX_OTHERS_READ = 20

/** Adds other artifacts with the requested slug; to mean one of them, a request must name it beside the slug. */
export function helpWithOthers(
  help: Finding,
  { registry, family, wanted, meant, placeIn }: OtherClaims,
): Finding {
  return async () => {
    const others = new Map<string, { readonly id: string; readonly slug: string }>()
    for (const [level, slug] of wanted)
      for (const { entry } of take(registry.index.claims(level, family, slug), MAX_OTHERS_READ)) {
        const { view } = entry
        const { id, slug: name } = view
        if (id !== meant?.id && !others.has(id) && (await placeIn(view))) others.set(id, { id, slug: name })
      }
    const found = await help()
    if (others.size === 0) return found
    const artifacts = [...others.values()]
    const names = artifacts.map(({ slug }) => `"${slug}"`).join(', ')
    const more = `One is in ${names}: name that ${family.name} beside the slug.`
    return {
      sentence: `${found?.sentence ?? ''} ${more}`.trim(),
      details: { ...found?.details, artifacts },
    }
  }
}

function* take<T>(some: Iterable<T>, most: number): Generator<T> {
  let taken = 0
  for (const it of some) {
    if (taken++ === most) return
    yield it
  }
}

function isClaimed(registry: Registry, level: SlugLevel, family: Family, slug: string): boolean {
  return registry.index.claims(level, family, slug).next().done !== true
}

/** The artifacts with a slug, oldest first; views are built on demand. */
function* ownersOf(
  registry: Registry,
  level: SlugLevel,
  family: Family,
  slug: string,
): Generator<ArtifactView> {
  for (const { entry } of registry.index.claims(level, family, slug)) yield entry.view
}

/** Help for a taken slug: whether its holder is archived, and a free slug. */
export function helpWithTaken(
  isArchived: () => boolean,
  findFree: () => string | undefined | Promise<string | undefined>,
): Finding {
  return async () => {
    const archived = isArchived() ? 'What has it is archived, and keeps it. ' : ''
    const free = await findFree()
    const suggestion = free === undefined || slugProblem(free) !== undefined ? '' : `"${free}" is free.`
    const sentence = `${archived}${suggestion}`.trim()
    return sentence === '' ? undefined : { sentence }
  }
}

async function helpWithArtifact(registry: Registry, family: Family, slug: string): Promise<Help | undefined> {
  if (isClaimed(registry, 'variant', family, slug))
    return { sentence: 'A variant has that slug: refer to it as a variant.' }
  if (family === registry.environments) return environmentsThatExist(registry, family)
  const near = await registry.index.near(family, slug)
  if (near.length > 0) return didYouMean(near.map(([artifact]) => [artifact.slug, archivedMark(artifact)]))
  const other = registry.families.find((it) => isClaimed(registry, 'artifact', it, slug))
  return other && { sentence: `${article(other.name)} ${other.name} has that slug.` }
}

const MOST_ENVIRONMENTS = 20

async function environmentsThatExist(registry: Registry, family: Family): Promise<Help | undefined> {
  const live = [...registry.index.seen(family)].filter(({ record }) => record.deleted_at === undefined)
  const slugs = live.slice(0, MOST_ENVIRONMENTS).map(({ slug }) => slug)
  if (slugs.length === 0) return undefined
  const more = live.length > slugs.length ? ` and ${live.length - slugs.length} more` : ''
  return { sentence: `The environments are ${slugs.join(', ')}${more}.`, details: { near: slugs } }
}

async function helpWithVariant(
  registry: Registry,
  family: Family,
  slug: string,
  artifact: ArtifactView | undefined,
): Promise<Help | undefined> {
  if (!artifact && isClaimed(registry, 'artifact', family, slug))
    return { sentence: 'An artifact has that slug: refer to it as one, for its default variant.' }
  const found = artifact
    ? ((await nearNames(
        foldSlug(slug),
        artifact.variants.map((it) => [foldSlug(it.slug), it] as const),
      )) ?? [])
    : await nearVariants(registry, family, slug)
  if (found.length > 0)
    return didYouMean(found.map((it) => [it.slug, it.record.deleted_at === undefined ? '' : ' (archived)']))
  const [only] = artifact?.variants ?? []
  return artifact && only && { sentence: `The default variant of "${artifact.slug}" is "${only.slug}".` }
}

async function nearVariants(registry: Registry, family: Family, slug: string): Promise<VariantView[]> {
  const near = await registry.index.near(family, slug, 'variant')
  return near.flatMap(([artifact, folded]) => variantOf(artifact, folded) ?? [])
}

/** An id names its repository, so one look-up finds whether it is the id of something else. */
function helpWithId(registry: Registry, id: string): Finding {
  return async () => {
    const artifact = await registry.index.findByDigits(repositoryDigits(id))
    if (!artifact) return undefined
    const { family, slug } = artifact
    if (artifact.id === id) return { sentence: `It is the id of the ${family.name} "${slug}".` }
    const variant = artifact.variants.find((it) => it.id === id)
    if (variant)
      return { sentence: `It is the id of the variant "${variant.slug}" of the ${family.name} "${slug}".` }
    return { sentence: `It ends as the ids of the ${family.name} "${slug}" do: is it that of a revision?` }
  }
}

function variantOf({ variants }: ArtifactView, slug: string): VariantView | undefined {
  return variants.find((it) => foldSlug(it.slug) === foldSlug(slug))
}

function archivedMark({ record }: ArtifactView): string {
  return record.deleted_at === undefined ? '' : ' (archived)'
}

function didYouMean(names: readonly (readonly [slug: string, mark: string])[]): Help {
  const quoted = names.map(([slug, mark]) => `"${slug}"${mark}`)
  const last = quoted.pop() ?? ''
  const list = quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last
  return { sentence: `Did you mean ${list}?`, details: { near: names.map(([slug]) => slug) } }
}

function article(word: string): string {
  return /^[aeiou]/.test(word) ? 'An' : 'A'
}
