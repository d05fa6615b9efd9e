import type { z } from 'zod'
import type { Surface } from '../registry/families.ts'
import type { ProjectSearch } from '../feeds/search.ts'
import type { Registry } from '../registry/registries.ts'
import type { Enrichment } from './schemas/enrichment.ts'
import type { PresentOptions } from './revisions/record.ts'
import {
  artifactRecordSchema,
  flatRecord,
  revisionRecord,
  variantRecordSchema,
} from './schemas/record-schemas.ts'
import { type SurfaceNames, surfaceNames } from './schemas/spellings.ts'

/** The data from which a surface's endpoints are built. */
export interface SurfaceContext {
  readonly surface: Surface
  readonly names: SurfaceNames
  readonly searchOf: (registry: Registry) => ProjectSearch
  readonly namesOf: NamesOf
  readonly present: PresentOptions
  /** Whether it serves clients of the existing service (`COMPAT`). */
  readonly isExisting: boolean
  /** The schemas of its records, one object each, so that /openapi.json can name them. */
  readonly records: Readonly<Record<'artifact' | 'variant' | 'revision' | 'flat', z.ZodType>>
  /** Further data that a retrieve of the surface may return. */
  readonly enrichment?: Enrichment
}

/** The current names of a project's principals, by id. */
export type NamesOf = (registry: Registry) => ReadonlyMap<string, string>

export interface SurfaceSettings extends Pick<SurfaceContext, 'searchOf' | 'namesOf' | 'isExisting'> {
  readonly servicesBase: string
  readonly gitBase: string
  readonly versionType: 'number' | 'string'
  readonly authorType: 'text' | 'uuid'
  readonly contradictions: 'warned' | 'refused'
}

/** The context of one surface among all surfaces. */
export function surfaceContext(
  surface: Surface,
  surfaces: readonly Surface[],
  { searchOf, namesOf, isExisting, ...settings }: SurfaceSettings,
): SurfaceContext {
  const { family } = surface
  const siblings = surfaces.filter((it) => it.family === family)
  const names = surfaceNames(surface, siblings)
  const flagNames = [...family.roles, ...family.flagNames]
  return {
    surface,
    names,
    searchOf,
    namesOf,
    isExisting,
    present: { answered: names.answered, ...settings },
    records: {
      artifact: artifactRecordSchema(family.roles),
      variant: variantRecordSchema(names, family.roles),
      revision: revisionRecord(names, flagNames),
      flat: flatRecord(flagNames),
    },
  }
}
