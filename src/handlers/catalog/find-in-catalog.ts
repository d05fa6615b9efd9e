import type { CatalogPreset, CatalogTemplate } from './catalog-template.ts'
import { catalogTemplates } from './catalog-templates.ts'

/** Which templates are asked for: flags by name, each of which a template must have as it is given. */
export type CatalogFilter = Readonly<Partial<Record<string, boolean>>>

/** The templates with these flags, in the order of the catalog; archived ones only if that is asked for. */
export function listTemplates(
  flags: CatalogFilter,
  { includeArchived }: { readonly includeArchived: boolean },
): readonly CatalogTemplate[] {
  return catalogTemplates.filter(
    (template) => (includeArchived || !template.flags.is_archived) && hasFlags(template, flags),
  )
}

/** The template of this key, archived or not; undefined if there is none with these flags. */
export function findTemplate(key: string, flags: CatalogFilter): CatalogTemplate | undefined {
  return catalogTemplates.find((template) => template.key === key && hasFlags(template, flags))
}

/** The preset of this key; undefined if the template has none. */
export function findPreset(template: CatalogTemplate, key: string): CatalogPreset | undefined {
  return template.presets.find((preset) => preset.key === key)
}

function hasFlags(template: CatalogTemplate, wanted: CatalogFilter): boolean {
  const flags: Readonly<Record<string, boolean>> = { ...template.flags }
  return Object.entries(wanted).every(([name, value]) => value === undefined || flags[name] === value)
}
