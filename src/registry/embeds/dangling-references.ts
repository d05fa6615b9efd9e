import { Refusal } from '../../errors.ts'
import { type Json, stringifyJson } from '../../base/json.ts'
import type { Warning } from '../payload/family.ts'
import type { Registry } from '../store/registry.ts'
import { EmbedRefusal } from './embed-refusal.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { EmbedToken } from './syntax/embed-token.ts'
import { findEmbeds } from './syntax/find-embeds.ts'
import { referencesJson } from './references-json.ts'
import { registryTargets } from './targets/registry-targets.ts'
import { TargetFinder } from './targets/target-finder.ts'

const MAX_WARNINGS = 100
/** The number of different references that are looked up; the rest of a document with more is not checked. */
const MAX_LOOKUPS = 1000
const EMBEDS_BETWEEN_CLOCK_READS = 16

/**
 * Warns of the first hundred embeds of a document whose references find nothing now (`dangling_reference`), and of each object that looks
 * like an embed but is not one (`inert_embed`), with their places. Such a document may be committed (interface 10.15). References whose
 * lookup fails for another reason are skipped.
 */
export async function danglingReferences(registry: Registry, data: Json): Promise<Warning[]> {
  const { tokens, inert } = findEmbeds(data)
  const warnings: Warning[] = []
  for (const target of inert.slice(0, MAX_WARNINGS))
    warnings.push({ code: 'inert_embed', message: INERT, target })
  if (tokens.length > 0) await addDangling(registry, tokens, warnings)
  return warnings
}

async function addDangling(
  registry: Registry,
  tokens: readonly EmbedToken[],
  warnings: Warning[],
): Promise<void> {
  const known = new Map<string, string | undefined>()
  const finder = new TargetFinder(registryTargets(registry))
  const slice = new TimeSlice()
  for (const [index, token] of tokens.entries()) {
    if (warnings.length === MAX_WARNINGS) break
    if (index % EMBEDS_BETWEEN_CLOCK_READS === EMBEDS_BETWEEN_CLOCK_READS - 1) await slice.pause()
    const references = stringifyJson(referencesJson(token.references))
    const asked = JSON.stringify([token.form, token.selector.key, references])
    if (!known.has(asked)) {
      if (known.size === MAX_LOOKUPS) break
      known.set(asked, await whyMissing(finder, token))
    }
    const why = known.get(asked)
    if (why !== undefined) {
      const { location: target } = token
      warnings.push({ code: 'dangling_reference', message: `${references}: ${why}`, target })
    }
  }
}

const INERT =
  'This is stored and answered as it is, and never replaced: an @svc.embed needs @svc.references whose ids are UUIDs, whose slugs ' +
  'are slugs and whose versions are whole numbers, such as {"workflow_revision": {"slug": "tone", "version": 1}}; @svc.references by ' +
  'themselves are one where nothing but @svc.selector is beside them.'

/** Why nothing is found; undefined if something is found, or if it cannot be determined. */
async function whyMissing(finder: TargetFinder, token: EmbedToken): Promise<string | undefined> {
  try {
    await finder.targetOf(token, { chain: [] })
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error instanceof EmbedRefusal && error.code === 'embed_not_found' ? error.message : undefined
  }
}
