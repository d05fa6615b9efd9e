import { handlerDefinitions } from '../built-in-handlers.ts'
import type { HandlerDefinition } from '../handler.ts'
import { handlerTable } from '../workflows.ts'
import type { CatalogTemplate } from './catalog-template.ts'
import { parameterDefaults, withPlainDefaults } from './parameter-defaults.ts'

/** The catalog begins with these, the most general ones; the others follow in the order of the table (interface 7.13). */
const FIRST: readonly string[] = ['feedback', 'hook', 'code', 'mock', 'match', 'llm']

/** Every template, archived ones included, in the order of the catalog (interface 7.13). */
export const catalogTemplates: readonly CatalogTemplate[] = handlerDefinitions
  .flatMap(templateOf)
  .sort((a, b) => placeOf(a) - placeOf(b))

function placeOf({ key }: CatalogTemplate): number {
  const place = FIRST.indexOf(key)
  return place === -1 ? FIRST.length : place
}

/** None of a handler that nobody is meant to begin from. */
function templateOf({
  key,
  schemas: own = {},
  template,
  presets = [],
}: HandlerDefinition): CatalogTemplate[] {
  if (!template) return []
  const { name, description, roles, categories, isArchived = false, callsModels = false } = template
  const { parameters, ...schemas } = own
  return [
    {
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
      uri: handlerTable.uriOf(key),
      schemas: { ...(parameters ? { parameters: withPlainDefaults(parameters) } : {}), ...schemas },
      parameters: parameterDefaults(parameters),
      presets,
      callsModels,
    },
  ]
}
