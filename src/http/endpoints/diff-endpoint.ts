import { z } from 'zod'
import type { Surface } from '../../resources/surface.ts'
import { diffRevisions } from '../../versioning/revisions/diff/diff-revisions.ts'
import { resolveReference } from '../../versioning/revisions/resolve-reference.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { envelope } from '../schemas/envelope.ts'
import { documentDiff, pageInfo, rowDiff } from '../schemas/record-schemas.ts'
import { pageWindowing, reference } from '../schemas/request-schemas.ts'

/** `POST …/revisions/diff` of a surface: a patch and text diffs of documents, pages of rows (interface 6.1, 8.24). */
export function diffEndpoint({ family, path, plural, payload }: Surface): Endpoint {
  const isRows = payload === 'rows'
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/diff`,
    tag: plural,
    summary: isRows
      ? 'Which rows and columns changed between two revisions, joined on dedup ids'
      : 'What changed between two revisions: an RFC 6902 patch, and a text diff of each file',
    scope: 'read',
    input: envelope({
      base: { names: ['base'], schema: reference, required: true },
      head: { names: ['head'], schema: reference, required: true },
      windowing: { names: ['windowing'], schema: pageWindowing },
    }),
    output: z.strictObject({
      count: z.literal(1),
      diff: isRows ? rowDiff : documentDiff,
      ...(isRows ? { windowing: pageInfo.optional() } : {}),
    }),
    example: { base: { slug: 'support-bot', version: 1 }, head: { slug: 'support-bot', version: 2 } },
    run: async ({ registry, input, untilGone }) => {
      const base = await resolveReference(registry, family, { revision: input.base })
      const head = await resolveReference(registry, family, { revision: input.head })
      const asked = { windowing: input.windowing, signal: untilGone() }
      return { body: { count: 1, ...(await diffRevisions(registry, base, head, asked)) } }
    },
  })
}
