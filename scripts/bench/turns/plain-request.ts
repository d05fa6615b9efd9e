import type { Operation } from '../../../test/support/clients/api-document.ts'
import { singular, type Subject } from './subjects.ts'
import type { TurnRequest } from './turn-client.ts'

/** The request that the document has as an example, about another subject. */
export function plainRequest(
  operation: Operation,
  surface: string,
  subject: Subject,
  shape: string,
): TurnRequest {
  const { method, path } = operation
  const address = `${pathTo(path, subject)}${path.endsWith('/download') ? '?file_type=csv' : ''}`
  const asked = { method, route: path, path: queried(address, method, surface, subject), shape }
  const { body } = operation
  return body ? { ...asked, body: JSON.stringify(exampleAbout(operation, surface, subject)) } : asked
}

/** The example of a body, about another subject. */
export function exampleAbout({ path, body }: Operation, surface: string, subject: Subject): object {
  const text = JSON.stringify(body?.example ?? {})
    .replaceAll('"slug":"support-bot"', `"slug":${JSON.stringify(subject.slug)}`)
    .replaceAll(/"(\w*?)(variant_|revision_)?id":"[0-9a-f-]{36}"/g, (_, name: string, kind?: string) => {
      const id =
        kind === undefined ? subject.id : kind === 'variant_' ? subject.variantId : subject.revisionId
      return `"${name}${kind ?? ''}id":"${id}"`
    })
  const example = JSON.parse(text) as Record<string, Record<string, unknown>>
  if (path.startsWith('/services') && surface === 'workflows') {
    return { ...example, references: { workflow: { slug: subject.slug } } }
  }
  if (path.endsWith('/revisions/resolve')) {
    return { [`${singular(surface)}_revision_ref`]: { id: subject.revisionId }, error_policy: 'placeholder' }
  }
  const isCreate = !/\{|query$|retrieve$|resolve$|deploy$|dependents$|diff$|log$|^\/services/.test(path)
  // A slug is taken once; without one the service makes one.
  const [record] = Object.values(example)
  if (isCreate && record) delete record.slug
  if (body?.schema.properties?.include_data) return { ...example, include_data: true }
  return example
}

function pathTo(path: string, { id, variantId, revisionId }: Subject): string {
  const own = path.includes('/variants/') ? variantId : path.includes('/revisions/') ? revisionId : id
  return path
    .replace('{id}', own)
    .replace('{key}', path.includes('catalog') ? 'completion' : 'auto_exact_match')
    .replace('{version}', 'v0')
    .replace('{preset}', 'default')
    .replace('{trace_id}', '0'.repeat(31) + '1')
    .replace('{span_id}', '0'.repeat(15) + '1')
}

/** The GET form of a retrieve takes its reference as a query. */
function queried(address: string, method: string, surface: string, { slug }: Subject): string {
  if (method !== 'GET' || !address.endsWith('/retrieve')) return address
  return `${address}?${singular(surface)}_variant_ref.slug=${encodeURIComponent(slug)}`
}
