import { z } from 'zod'
import { invalid } from '../../errors.ts'
import {
  type CatalogPreset,
  type CatalogTemplate,
  findPreset,
  findTemplate,
  listTemplates,
  templateData,
  withOwnData,
} from '../../run/catalog.ts'
import { getKey, isJsonObject, type Json } from '../../base/json.ts'
import type { Surface } from '../../registry/families.ts'
import { shown } from '../schemas/request-schemas.ts'

/** The part of a create request that determines the first revision. */
export interface TemplateChoice {
  readonly template?: string | undefined
  readonly preset?: string | undefined
  /** Data that overrides the template's. */
  readonly data?: Json | undefined
  readonly flags?: Readonly<Record<string, boolean>> | undefined
}

/** What a template gives a new artifact: the first revision's data and message, and the roles. */
export interface ChosenTemplate {
  readonly data: Json
  readonly message: string
  readonly flags: Readonly<Record<string, boolean>> | undefined
}

const fields = {
  template: z
    .string()
    .optional()
    .meta({ description: 'The key of a catalog template that the first revision is made from.' }),
  preset: z.string().optional().meta({ description: 'The key of a preset of that template.' }),
}

/** The fields of a create that choose a template; without a catalog they are unknown and ignored. */
export function templateFields({ hasCatalog }: Surface): typeof fields {
  // A schema without a field reads it as absent, which both allow.
  return hasCatalog ? fields : ({} as typeof fields)
}

/**
 * What the chosen template gives a new artifact of this surface (interface 7.15); undefined if none is
 * chosen. `loc` is the artifact's place in the request. Refuses unknown keys, keys of other surfaces, and
 * data that names another handler.
 */
export function chosenTemplate(
  surface: Surface,
  choice: TemplateChoice,
  loc: readonly string[],
): ChosenTemplate | undefined {
  if (choice.template === undefined) {
    if (choice.preset === undefined) return undefined
    const msg = `a preset belongs to a template; send the template's key as "template" too`
    throw invalid([...loc, 'template'], msg, 'missing')
  }
  const template = theTemplate(surface, choice.template, [...loc, 'template'])
  const preset =
    choice.preset === undefined ? undefined : thePreset(template, choice.preset, [...loc, 'preset'])
  assertSameUri(template, choice.data, [...loc, 'data', 'uri'])
  return {
    data: withOwnData(templateData(template, preset), choice.data),
    message: `Begin with template ${template.key}${preset ? `, preset ${preset.key}` : ''}`,
    flags: rolesOf(surface, template, choice.flags),
  }
}

function theTemplate(surface: Surface, key: string, loc: readonly string[]): CatalogTemplate {
  const template = findTemplate(key, surface.fixedFlags)
  if (template) return template
  const what = findTemplate(key, {}) ? `is not for ${surface.plural}` : 'is not a template'
  const keys = listTemplates(surface.fixedFlags, { includeArchived: true }).map((it) => it.key)
  throw invalid(loc, `${shown(key)} ${what}; the templates here are ${keys.join(', ')}`, 'unknown_template')
}

function thePreset(template: CatalogTemplate, key: string, loc: readonly string[]): CatalogPreset {
  const preset = findPreset(template, key)
  if (preset) return preset
  const keys = template.presets.map((it) => it.key)
  const known = keys.length > 0 ? `its presets are ${keys.join(', ')}` : 'it has none'
  const msg = `${shown(key)} is not a preset of the template ${template.key}; ${known}`
  throw invalid(loc, msg, 'unknown_preset')
}

function assertSameUri({ key, uri }: CatalogTemplate, data: Json | undefined, loc: readonly string[]): void {
  const sent = isJsonObject(data) ? (getKey(data, 'uri') ?? uri) : uri
  if (sent === uri) return
  const msg = `${shown(sent)} is not the handler of the template ${key}, which is "${uri}"; leave one of them out`
  throw invalid(loc, msg, 'contradictory_uri')
}

/** The roles from the client or the surface; if neither gives any, the template's. */
function rolesOf(
  { family, fixedFlags }: Surface,
  { flags }: CatalogTemplate,
  given: TemplateChoice['flags'],
): TemplateChoice['flags'] {
  const isGiven = family.roles.some((role) => (given?.[role] ?? fixedFlags[role]) !== undefined)
  return isGiven ? given : { ...flags }
}
