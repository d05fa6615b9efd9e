import { z } from 'zod'
import { listTemplates } from '../../handlers/catalog/find-in-catalog.ts'
import { presentLegacyTemplate } from '../presenters/legacy-template.ts'
import { anyKey, endpoint } from '../routing/endpoint.ts'
import { legacyTemplate } from '../schemas/catalog.ts'
import { queryReading } from '../schemas/queries/query-parameters.ts'
import { list } from '../schemas/record-schemas.ts'

/** The templates of evaluators as older clients ask for them (interface 7.13). */
export const legacyTemplatesEndpoint = endpoint({
  method: 'GET',
  path: '/simple/evaluators/templates',
  tag: 'legacy',
  summary: 'What evaluators can be made from, in the shape of before the catalog',
  ...anyKey,
  input: z.object({ include_archived: z.boolean().optional() }),
  fromQuery: queryReading(['include_archived'], false),
  output: list('templates', legacyTemplate),
  run: ({ input: { include_archived: includeArchived = false } }) => {
    const templates = listTemplates({ is_evaluator: true }, { includeArchived }).map(presentLegacyTemplate)
    return { body: { count: templates.length, templates } }
  },
})
