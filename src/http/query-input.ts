import { z } from 'zod'
import type { Surface } from '../resources/surface.ts'
import type { Family } from '../versioning/family.ts'
import type { RevisionFilter } from '../versioning/filters.ts'
import type { RevisionQuery } from '../versioning/query-revisions.ts'
import { envelope } from './envelope.ts'
import { queryFilters } from './query-parameters.ts'
import { jsonObject, reference, roleFlags, slug, time, windowing } from './request-schemas.ts'
import type { SurfaceNames } from './surface-names.ts'
import { spellings } from './surface-names.ts'

/** At which level a query lists; `flat` is that of the simple endpoints. */
export type QueryLevel = 'artifact' | 'variant' | 'revision' | 'flat'

type ReferenceLevel = '' | '_variant' | '_revision'

/** Which lists of references each level takes (contract/workflows 6.1). */
const REFERENCED: Readonly<Record<QueryLevel, readonly ReferenceLevel[]>> = {
  artifact: [''],
  flat: [''],
  variant: ['', '_variant'],
  revision: ['', '_variant', '_revision'],
}

const SUFFIX = { artifact: '', variant: '_variant', revision: '_revision', flat: '' } as const

/** So many items a list in a filter may have: each is looked for in each record. */
const MOST_ITEMS = 1000

function listOf<T>(item: z.ZodType<T>): z.ZodArray<z.ZodType<T>> {
  return z.array(item).max(MOST_ITEMS, `must have at most ${MOST_ITEMS} items; ask in several requests`)
}

/** The input of a query endpoint: body and query string alike (contract/workflows 6, rulings 1.6 to 1.8). */
export function queryInput(
  names: SurfaceNames,
  level: QueryLevel,
  flagNames: readonly string[],
  { pins }: Pick<Family, 'pins'> = {},
) {
  const suffix = SUFFIX[level]
  const references = REFERENCED[level]
  const referencePart = (of: ReferenceLevel) => ({
    names: references.includes(of) ? spellings(names, `${of}_refs`) : [],
    schema: listOf(reference),
  })
  return {
    input: envelope({
      filter: { names: spellings(names, suffix), schema: filterSchema(level, flagNames) },
      artifacts: referencePart(''),
      variants: referencePart('_variant'),
      revisions: referencePart('_revision'),
      pinned: { names: pins ? ['references'] : [], schema: listOf(reference) },
      includeArchived: { names: ['include_archived'], schema: z.boolean() },
      windowing: { names: ['windowing'], schema: windowing },
    }),
    fromQuery: queryFilters(
      spellings(names, suffix),
      references.map((it) => spellings(names, it)),
    ),
  }
}

/** What `queryInput` reads, as the use case takes it. */
export function queryOf(
  input: z.infer<ReturnType<typeof queryInput>['input']>,
  { fixedFlags }: Surface,
): RevisionQuery {
  const { artifacts, variants, revisions, pinned, includeArchived } = input
  return {
    filter: input.filter ?? {},
    roles: fixedFlags,
    artifacts,
    variants,
    revisions,
    pinned,
    includeArchived,
    windowing: input.windowing,
  }
}

function filterSchema(level: QueryLevel, flagNames: readonly string[]): z.ZodType<RevisionFilter> {
  const flags = roleFlags.check((context) => {
    for (const name of Object.keys(context.value)) {
      if (flagNames.includes(name)) continue
      const message = `there is no such flag; the flags are ${flagNames.join(', ')}`
      context.issues.push({
        code: 'custom',
        input: name,
        path: [name],
        message,
        params: { type: 'extra_forbidden' },
      })
    }
  })
  const common = {
    slug: slug.optional(),
    slugs: listOf(slug).optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    flags: flags.optional(),
    tags: jsonObject.optional(),
    meta: jsonObject.optional(),
  }
  const ofRevisions = {
    message: z.string().optional(),
    author: z.string().optional(),
    authors: listOf(z.string()).optional(),
    date: time.optional(),
    dates: listOf(time).optional(),
  }
  return level === 'revision' ? z.strictObject({ ...common, ...ofRevisions }) : z.strictObject(common)
}
