import { problemOfRange } from '../../parts/schema/schema-problems.ts'

/** What numbers a schema takes. */
export interface NumberRange {
  readonly least: number | undefined
  readonly most: number | undefined
  readonly isWhole: boolean
}

/** The numbers among the properties of a JSON Schema. */
export function rangesIn(schema: unknown): ReadonlyMap<string, NumberRange> {
  const { properties } = (schema ?? {}) as { readonly properties?: unknown }
  if (typeof properties !== 'object' || properties === null) return new Map()
  return new Map(
    Object.entries(properties).flatMap(([name, property]) => {
      const range = rangeOf(property)
      return range ? [[name, range] as const] : []
    }),
  )
}

/** Why a text is no number of the range, to be said after its name; undefined if it is one, or empty. */
export function problemOfNumber(text: string, range: NumberRange | undefined): string | undefined {
  if (text === '') return undefined
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return 'has to be a number, such as 0.7'
  if (range?.isWhole && !/^-?\d+$/.test(text)) return 'has to be a whole number'
  return range && problemOfRange(Number(text), range)
}

/** An optional one says `anyOf` with null. */
function rangeOf(property: unknown): NumberRange | undefined {
  const { anyOf = [property] } = (property ?? {}) as { readonly anyOf?: readonly unknown[] }
  for (const it of anyOf) {
    const { type, minimum, maximum } = (it ?? {}) as Readonly<Record<string, unknown>>
    if (type !== 'number' && type !== 'integer') continue
    return {
      least: typeof minimum === 'number' ? minimum : undefined,
      most: typeof maximum === 'number' ? maximum : undefined,
      isWhole: type === 'integer',
    }
  }
  return undefined
}
