import type { Json } from '../json/json.ts'
import type { Surface } from '../resources/surface.ts'
import type { RevisionDraft } from '../versioning/revisions/build-revision.ts'
import type { Warning } from '../versioning/family/family.ts'
import type { Header } from '../versioning/artifacts/records.ts'
import type { Registry } from '../versioning/registry.ts'
import { chosenTemplate, type TemplateChoice } from './chosen-template.ts'
import { roleFlags } from './role-flags.ts'

/** What a create says of its artifact's first revision. */
export interface BeginningRequest extends TemplateChoice {
  readonly data?: Json | undefined
  readonly message?: string | undefined
  readonly header: Header
}

/** What a new artifact begins with. */
export interface Beginning {
  /** Undefined when neither data nor a template was sent: then there is no revision (ruling 3.2). */
  readonly revision: RevisionDraft | undefined
  readonly flags: Readonly<Record<string, boolean>> | undefined
  readonly warnings: readonly Warning[]
}

/** The first revision and the roles of a new artifact, from its data, a template of the catalog, or both; `loc` is its place in the request. */
export async function beginning(
  registry: Registry,
  surface: Surface,
  request: BeginningRequest,
  loc: readonly string[],
): Promise<Beginning> {
  const chosen = chosenTemplate(surface, request, loc)
  const { data, message, flags } = { ...request, ...chosen, message: request.message ?? chosen?.message }
  const roles = roleFlags(surface, flags)
  if (data === undefined) return { revision: undefined, flags: roles, warnings: [] }
  const { payload, warnings } = await surface.family.accept(data, {
    loc: [...loc, 'data'],
    servicesBase: registry.servicesBase,
  })
  return { revision: { payload, message, header: request.header }, flags: roles, warnings }
}
