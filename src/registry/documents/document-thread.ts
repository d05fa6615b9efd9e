import type { DocumentThread } from '../payload/large-document.ts'
import type { HandlerInterface } from '../workflows/workflow-data.ts'

/** The definition for a job, in a form that can be sent to a thread. */
export type SentDefinition =
  | { readonly name: 'workflow'; readonly handlers: readonly Pick<HandlerInterface, 'key' | 'kind'>[] }
  | { readonly name: 'query' }

/** How a thread processes documents of a definition. */
export function threadOf(definition: SentDefinition): DocumentThread {
  return { module: new URL('./document-job.js', import.meta.url).href, definition }
}
