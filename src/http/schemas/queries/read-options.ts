import { z } from 'zod'
import type { Surface, Reading } from '../../../registry/families.ts'
import type { Endpoint } from '../../routing/endpoint.ts'
import { ROW_PAGE_PARAMETERS, queryReading } from './query-parameters.ts'
import { rowsPageInfo } from '../record-schemas.ts'
import { rowsWindowing } from '../request-schemas.ts'

/** An input together with what the request asks to see of payloads. */
export type WithReadOptions<T> = T & { readonly asked?: Reading }

/**
 * Adds to the input of an endpoint what a request of this surface may ask to see of payloads: its flags, and with `paged` a
 * windowing where payloads come in parts; in the body or in the query string (interface 8.15).
 */
export function withReadOptions<T extends object>(
  { readFlags, payload }: Surface,
  { input, fromQuery }: { readonly input: z.ZodType<T>; readonly fromQuery?: Endpoint['fromQuery'] },
  { paged = false }: { readonly paged?: boolean } = {},
): { readonly input: z.ZodType<WithReadOptions<T>>; readonly fromQuery?: Endpoint['fromQuery'] } {
  if (readFlags.length === 0) return { input, ...(fromQuery ? { fromQuery } : {}) }
  const isInParts = paged && payload === 'rows'
  const flags = Object.fromEntries(readFlags.map((name) => [name, z.boolean().optional()]))
  const asked = z
    .object({ ...flags, ...(isInParts ? { windowing: rowsWindowing.optional() } : {}) })
    .transform(({ windowing, ...rest }: Record<string, unknown>) => ({
      // Of the schemas above.
      asked: { flags: rest, windowing } as Reading,
    }))
  const named = [...readFlags, ...(isInParts ? ROW_PAGE_PARAMETERS : [])]
  const readingIn = queryReading(readFlags, isInParts)
  return {
    input: z.intersection(input, asked),
    fromQuery: (query, body) => {
      // A form that takes every parameter takes these, too.
      const others = Object.entries(fromQuery?.(query, body) ?? {}).filter(([name]) => !named.includes(name))
      return { ...Object.fromEntries(others), ...readingIn(query, body) }
    },
  }
}

/** What an answer with one payload says of where its next part begins and of all parts together, where payloads come in parts. */
export function payloadPage({ payload }: Surface): Readonly<Record<string, z.ZodType>> {
  return payload === 'rows' ? { windowing: rowsPageInfo.optional(), total: z.int().min(0).optional() } : {}
}
