import { stringifyJson } from '../json/stringify-json.ts'
import { EmbedRefusal } from './embed-refusal.ts'
import type { EmbedToken } from './syntax/embed-token.ts'
import { referencesJson } from './references-json.ts'
import type { ResolutionContext } from './resolution-context.ts'

/**
 * The refusal with the place and the references of the token that failed, in its sentence and its details. A failure inside a
 * target's data comes by here once for each embed on the way out; its details name the outermost.
 */
export function errorWithLocation(
  refusal: EmbedRefusal,
  { location, references }: EmbedToken,
  here: ResolutionContext,
): EmbedRefusal {
  const place = [...here.location, ...location]
  const asJson = referencesJson(references)
  const { target } = here.run
  const where = `${target === undefined ? '' : `in "${target}", `}${shown(['data', ...place].join('.'))}`
  return new EmbedRefusal(
    refusal.code,
    `${where} embeds ${shown(stringifyJson(asJson))}: ${refusal.message}`,
    refusal.reach,
    { ...refusal.data, details: { ...refusal.data.details, location: place, references: asJson } },
  )
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
