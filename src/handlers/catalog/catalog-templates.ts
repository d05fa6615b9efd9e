import { builtInSchemas } from '../../resources/workflows/schemas/built-in-schemas.ts'
import { parseHandlerUri } from '../../resources/workflows/handler-uri.ts'
import type { CatalogTemplate } from './catalog-template.ts'
import { customTemplates } from './custom-templates.ts'
import { evaluatorTemplates } from './evaluator-templates.ts'
import { generalTemplates } from './general-templates.ts'
import { parameterDefaults, withPlainDefaults } from './parameter-defaults.ts'
import type { TemplateDefinition } from './template-definition.ts'

/** Every template, archived ones included, in the order of the catalog (contract/handlers 1.4). */
export const catalogTemplates: readonly CatalogTemplate[] = [
  ...customTemplates,
  ...generalTemplates,
  ...evaluatorTemplates,
].map(templateOf)

function templateOf({
  key,
  name,
  description,
  kind,
  roles,
  categories,
  isArchived = false,
  presets = [],
}: TemplateDefinition): CatalogTemplate {
  const uri = `svc:${kind}:${key}:v0`
  const { parameters, ...schemas } = builtInSchemas(parseHandlerUri(uri)) ?? {}
  return {
    key,
    ...(name === undefined ? {} : { name }),
    description,
    categories,
    flags: {
      is_application: roles !== 'evaluator',
      is_evaluator: roles !== 'application',
      is_snippet: false,
      is_archived: isArchived,
      is_recommended: false,
    },
    uri,
    schemas: { ...(parameters ? { parameters: withPlainDefaults(parameters) } : {}), ...schemas },
    parameters: parameterDefaults(parameters),
    presets,
  }
}
