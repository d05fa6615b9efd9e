import { getKey, withKey, withoutKey, type JsonObject } from '../../json/json.ts'
import type { PresentContext } from '../../versioning/family/family.ts'
import { effectiveVersion, handlerOf, isManaged, isSkill } from './handler-uri.ts'

/**
 * The data as a reader sees it: beside a managed uri, `url` is where the service runs exactly this revision,
 * `<services base>/<key>/<version>/<revision id>`, unless a url of elsewhere is stored (interface 7.4). A skill has none.
 */
export function presentWorkflow(
  data: JsonObject,
  context: Pick<PresentContext, 'servicesBase' | 'revisionId'>,
): JsonObject {
  const stored = getKey(data, 'url')
  if (typeof stored === 'string' && !isServicesUrl(stored, context.servicesBase)) return data
  const handler = handlerOf(data)
  if (!isManaged(handler) || isSkill(handler)) return data
  const parts = [handler.key, effectiveVersion(handler), context.revisionId].map(encodeURIComponent)
  return withKey(data, 'url', [context.servicesBase, ...parts].join('/'))
}

/** The data without a url that this service derives itself: such a url is never stored (interface 7.4). */
export function dropServicesUrl(data: JsonObject, servicesBase: string): JsonObject {
  const url = getKey(data, 'url')
  return typeof url === 'string' && isServicesUrl(url, servicesBase) ? withoutKey(data, 'url') : data
}

/** Whether a url is the services base or lies under it; scheme and host are compared as URLs, without case. */
function isServicesUrl(url: string, servicesBase: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(servicesBase)) return false
  const { origin, pathname } = new URL(url)
  const base = new URL(servicesBase)
  return origin === base.origin && (pathname === base.pathname || pathname.startsWith(`${base.pathname}/`))
}
