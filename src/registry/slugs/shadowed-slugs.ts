import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Warning } from '../payload/family.ts'
import { claimsIn, type SlugLevel, type WantedSlug } from '../index/slug-table.ts'
import type { Registry } from '../store/registry.ts'
import { numberedBase } from './slug.ts'

/** A slug of an artifact, and its level. */
export type MadeSlug = readonly [level: 'artifact' | 'variant' | 'tag', slug: string]

/** An older claim of another artifact on a slug, which decides the meaning of the slug alone (decision 40). */
export interface Shadow {
  readonly made: MadeSlug
  /** The level and slug of the other claim. */
  readonly level: SlugLevel
  readonly slug: string
  readonly artifact: string
  readonly since: string
  /** Whether the other artifact is in the trash: then the slug leads nowhere. */
  readonly isTrashed: boolean
}

/** The slugs of an artifact that, given alone, mean another artifact, each with the oldest claim on it. */
export async function shadowsOf(
  registry: Registry,
  artifact: ArtifactView,
  made: readonly MadeSlug[],
): Promise<readonly Shadow[]> {
  const shadows: Shadow[] = []
  for (const it of made) {
    const [claim] = claimsIn(artifact, [it])
    if (!claim) continue
    const own = { id: artifact.id, since: claim.since }
    const wanted = readAs(it)
    // A claim of the same level is reported before one that only a version leads to.
    const older =
      (await registry.index.olderClaim(artifact.family, [it], own)) ??
      (await registry.index.olderClaim(artifact.family, wanted, own))
    const trashed = await registry.trash.oldestOf(artifact.family, wanted)
    if (trashed && trashed.since < (older ?? own).since) {
      const { holder, ...kept } = trashed
      shadows.push({ made: it, ...kept, artifact: holder.artifact.slug, isTrashed: true })
    } else if (older) shadows.push({ made: it, ...older, isTrashed: false })
  }
  return shadows
}

/** The other meanings that a slug may have. */
function readAs([level, slug]: MadeSlug): readonly WantedSlug[] {
  const base = numberedBase(slug)
  const asVersion: readonly WantedSlug[] = base === undefined ? [] : [['variant', base]]
  const same: readonly WantedSlug[] = [
    ['variant', slug],
    ['tag', slug],
  ]
  if (level === 'artifact') return same
  if (level === 'tag') return [...same, ['artifact', slug], ...asVersion]
  return [...same, ['artifact', slug], ['numbered', slug], ...asVersion]
}

/** Warns of new slugs that, given alone, mean another artifact. Without permission to read, the warning does not name that one. */
export async function shadowWarnings(
  registry: Registry,
  artifact: ArtifactView,
  made: readonly MadeSlug[],
  mayRead = true,
): Promise<readonly Warning[]> {
  const shadows = await shadowsOf(registry, artifact, made)
  return shadows.map((shadow) => ({
    code: 'shadowed_slug',
    message: mayRead
      ? `${shadowSentence(shadow)} Name "${artifact.slug}" beside it, or use the id.`
      : `The slug "${shadow.made[1]}" means something older of this project where it stands alone. Name "${artifact.slug}" beside it, or use the id.`,
  }))
}

/** The same for a new artifact and its variant. */
export function madeArtifactWarnings(
  registry: Registry,
  artifact: ArtifactView,
): Promise<readonly Warning[]> {
  const variants = artifact.variants.map(({ slug }): MadeSlug => ['variant', slug])
  return shadowWarnings(registry, artifact, [['artifact', artifact.slug], ...variants])
}

/** The sentence about the meaning of a slug without its artifact, and since when. */
export function shadowSentence({ made: [level, slug], ...other }: Shadow): string {
  const isSame = other.slug === slug && other.level === level
  const isVersion = other.level === 'numbered' || (other.slug !== slug && other.level === 'variant')
  const way = isSame ? '' : isVersion ? ' and a number' : ' with a version'
  return `Without an artifact beside it, the ${WORDS[level]} slug "${slug}"${way} does not mean this one: ${whose(slug, other)} since ${other.since}.`
}

function whose(slug: string, { level, slug: name, artifact, isTrashed }: Omit<Shadow, 'made'>): string {
  const who = isTrashed ? `"${artifact}", which lies in the trash,` : `"${artifact}"`
  if (level === 'artifact') return `${who} has been an artifact of that slug`
  if (level === 'variant' && name !== slug)
    return `it reads as a version of "${name}", which has been a variant of ${who}`
  if (level === 'variant') return `${who} has had a variant of that slug`
  if (level === 'tag') return `${who} has had a revision of that slug`
  return `${who} has had a revision "${name}", which reads as a version of it,`
}

const WORDS = { artifact: 'artifact', variant: 'variant', tag: 'revision' } as const
