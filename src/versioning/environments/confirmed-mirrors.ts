import { Refusal } from '../../errors.ts'
import type { AllRefs } from '../../git/refs/list-refs.ts'
import { pinsAt } from './environments.ts'
import type { Family } from '../family/family.ts'
import { objectUuid } from '../ids.ts'
import { defaultKey, referencesTo } from './pin.ts'
import type { Registry } from '../registry.ts'
import { latestOf } from '../revisions/revision.ts'

const MIRRORS = 'refs/environments/'

/** Which artifact refs are of. */
export interface MirroredArtifact {
  readonly family: Family
  readonly slug: string
  readonly digits: string
}

/**
 * The refs without those that say what environments run, unless the environments themselves say so now: they are what decides, and have
 * what they run mirrored where it is missing (see Mirrors).
 */
export async function confirmedMirrors(
  registry: Registry,
  { family, slug, digits }: MirroredArtifact,
  { refs, head }: AllRefs,
): Promise<AllRefs> {
  const confirmed = new Map([...refs].filter(([name]) => !name.startsWith(MIRRORS)))
  for (const [name, oid] of refs) {
    if (!name.startsWith(MIRRORS)) continue
    const running = await runningIn(registry, name.slice(MIRRORS.length), { family, slug })
    if (running === objectUuid(oid, digits)) confirmed.set(name, oid)
  }
  return { refs: confirmed, head }
}

/** The id of the artifact's revision that the environment runs; undefined where it runs none, or cannot be read now. */
async function runningIn(
  registry: Registry,
  environment: string,
  { family, slug }: Pick<MirroredArtifact, 'family' | 'slug'>,
): Promise<string | undefined> {
  try {
    const artifact = await registry.index.findBySlug(registry.environments, environment)
    const latest = artifact?.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
    const pins = latest ? await pinsAt(registry, latest) : []
    const pin = pins.find(({ key }) => key === defaultKey(slug))
    return pin && referencesTo(family, pin)?.revision?.id
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
