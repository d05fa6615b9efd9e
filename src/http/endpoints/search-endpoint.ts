import { z } from 'zod'
import type { Surface } from '../../registry/families.ts'
import {
  SEARCH_FIELDS,
  type DocumentKind,
  type ProjectSearch,
  type SearchHit,
  parseSearch,
} from '../../feeds/search.ts'
import { archivedLevel } from '../../registry/artifacts.ts'
import type { Registry } from '../../registry/registries.ts'
import type { PresentOptions } from '../revisions/record.ts'
import { presentVersion } from '../revisions/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { archivedLevels, list } from '../schemas/record-schemas.ts'
import { folder, recursive, searchText, uuid } from '../schemas/request-schemas.ts'

/** The kind of hits that are rows of testsets. */
const ROW = 'row'

const MAX_HITS = 1000

/**
 * `POST /search`: finds artifacts, revisions and rows of the project by the words of their names, messages
 * and data.
 */
export function searchEndpoint(
  searchOf: (registry: Registry) => ProjectSearch,
  surfaces: readonly Surface[],
  present: Pick<PresentOptions, 'versionType'>,
): Endpoint {
  const kinds = [...surfaces.map(({ singular }) => singular), ROW]
  return endpoint({
    method: 'POST',
    path: '/search',
    tag: 'search',
    summary: 'Artifacts, revisions and rows by the words of their names, messages and data, the best first',
    scope: 'read',
    input: z.object({
      query: searchText,
      kinds: z.array(z.enum(kinds)).min(1, 'must name at least one kind').optional(),
      folder: folder.optional(),
      recursive: recursive.optional(),
      include_history: z.boolean().optional(),
      include_archived: z.boolean().optional(),
      windowing: z
        .object({
          limit: z
            .int('must be a whole number')
            .min(1, 'must be at least 1')
            .max(MAX_HITS, `must be at most ${MAX_HITS}`)
            .optional(),
          next: uuid.optional(),
        })
        .optional(),
    }),
    output: list('hits', hitRecord(kinds)),
    example: { query: 'capital "of France" pari*' },
    run: async ({ registry, input, untilGone }) => {
      const asked = surfaces.filter(({ singular }) => input.kinds?.includes(singular) ?? true)
      // The surface of all workflows matches what no narrower one matches.
      const narrowFirst = [...asked].sort((a, b) => flagsOf(b).length - flagsOf(a).length)
      const query = {
        search: parseSearch(input.query, ['body', 'query']),
        kinds: asked.map(kindOf),
        withRows: input.kinds?.includes(ROW) ?? true,
        folder: input.folder,
        recursive: input.recursive,
        includeHistory: input.include_history,
        includeArchived: input.include_archived,
        windowing: input.windowing,
      }
      const window = await searchOf(registry).search(query, untilGone())
      const hits = window.rows.map((hit) => presentHit(hit, narrowFirst, present))
      return respondWithList('hits', window, input.windowing, hits)
    },
  })
}

function flagsOf({ fixedFlags }: Surface): string[] {
  return Object.keys(fixedFlags).filter((flag) => fixedFlags[flag])
}

function kindOf(surface: Surface): DocumentKind {
  return { family: surface.family.folder, flag: flagsOf(surface)[0] }
}

function presentHit(
  { artifact, revision, field, place, excerpt, ranges, rank }: SearchHit,
  surfaces: readonly Surface[],
  options: Pick<PresentOptions, 'versionType'>,
): object {
  const { id, slug, record, family } = artifact
  const isOf = (surface: Surface): boolean =>
    surface.family === family && flagsOf(surface).every((flag) => record.flags?.[flag])
  return {
    kind: isInRow(place) ? ROW : (surfaces.find(isOf)?.singular ?? family.name),
    artifact: { id, slug, name: record.name },
    ...(revision
      ? {
          variant: { id: revision.variant.id, slug: revision.variant.slug },
          revision: {
            id: revision.id,
            slug: revision.slug,
            version: presentVersion(revision.version, options),
          },
        }
      : {}),
    archived: archivedLevel(artifact, revision?.variant, revision?.id),
    field,
    place,
    excerpt,
    ranges,
    rank,
  }
}

function isInRow(place: SearchHit['place']): boolean {
  return typeof place === 'object' && 'row' in place
}

function hitRecord(kinds: readonly string[]) {
  return z.strictObject({
    kind: z.enum(kinds),
    artifact: z.strictObject({ id: z.string(), slug: z.string(), name: z.string().optional() }),
    variant: z.strictObject({ id: z.string(), slug: z.string() }).optional(),
    revision: z
      .strictObject({ id: z.string(), slug: z.string(), version: z.union([z.int(), z.string()]) })
      .optional(),
    archived: archivedLevels.optional(),
    field: z.enum(SEARCH_FIELDS),
    place: z
      .union([
        z.string(),
        z.strictObject({ header: z.string() }),
        z.strictObject({ row: z.string(), column: z.string() }),
      ])
      .optional()
      .meta({
        description:
          'A JSON Pointer into the data of the revision, or of a header; of a row its dedup id and the column.',
      }),
    excerpt: z.string(),
    ranges: z
      .array(z.tuple([z.int(), z.int()]))
      .meta({ description: 'Where the excerpt has the words: offsets in UTF-16 units, half-open.' }),
    rank: z.number().meta({ description: 'The larger, the better it matches.' }),
  })
}
