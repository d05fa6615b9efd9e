import type { Oid } from '../../git/objects/object.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { repositoryDigits } from '../ids.ts'
import type { Pin } from '../reference.ts'
import type { Registry } from '../registry.ts'
import { referencesTo } from './pin.ts'

/** Something that an environment runs, or ran. */
export interface EverPinned {
  readonly environment: { readonly id: string; readonly slug: string }
  readonly key: string
}

const HEADS = 'refs/heads/'

/**
 * Looks through the histories of environments, archived ones too, for what they ever had deployed. What was looked at once is not looked
 * at again: a second look costs what came since.
 */
export class PinsEver {
  readonly #registry: Registry
  readonly #seen = new Set<string>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** What is or was deployed of the artifact, by environment; of an environment whatever it had. Only what no earlier call looked at. */
  async of(artifact: ArtifactView): Promise<readonly EverPinned[]> {
    const { index, environments } = this.#registry
    const among = artifact.family === environments ? [artifact] : await index.list(environments)
    const found = new Map<string, EverPinned>()
    const slice = new TimeSlice()
    for (const environment of among) {
      const { id, slug, repository } = environment
      // Afresh: whoever wrote last need not have told of it yet.
      for (const [ref, head] of repository.freshRefs().refs) {
        if (!ref.startsWith(HEADS)) continue
        for (let node = await repository.history.node(head); ; node = node.parent) {
          if (this.#seen.has(`${id} ${node.oid}`)) break
          this.#seen.add(`${id} ${node.oid}`)
          for (const pin of await this.#pinsAt(environment, node.oid)) {
            if (artifact === environment || names(this.#registry, pin, artifact))
              found.set(`${id} ${pin.key}`, { environment: { id, slug }, key: pin.key })
          }
          if (slice.isOver) await slice.rest()
          if (!node.parent) break
        }
      }
    }
    return [...found.values()]
  }

  async #pinsAt({ family, repository }: ArtifactView, oid: Oid): Promise<readonly Pin[]> {
    const { payload } = await this.#registry.revisions(family).readForList(repository.objects, oid)
    return (payload && family.pins?.(payload)) ?? []
  }
}

/** By an id of anything of the artifact, which end in the same digits; else by its slugs. */
function names({ families }: Registry, pin: Pin, { digits, slug, variants, tags }: ArtifactView): boolean {
  return families.some((family) => {
    const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
    const references = [artifact, variant, revision].filter((it) => it !== undefined)
    if (references.some(({ id }) => id !== undefined))
      return references.some(({ id }) => id !== undefined && repositoryDigits(id) === digits)
    const isVariant = (it: string | undefined): boolean => variants.some((own) => own.slug === it)
    return (
      artifact?.slug === slug ||
      isVariant(variant?.slug) ||
      (revision?.slug !== undefined &&
        (tags.has(revision.slug) ||
          revision.slug === slug ||
          isVariant(revision.slug) ||
          isVariant(revision.slug.replace(/-[1-9][0-9]*$/, ''))))
    )
  })
}
