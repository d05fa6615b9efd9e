import type { ApiDocument, Operation } from '../../../test/support/clients/api-document.ts'

/** What is asked of a thing that is stored; making, committing and uploading are measured by themselves. */
export function operationsOf({ operations }: ApiDocument, surface: string): Operation[] {
  return operations.filter(({ path, method, isUpload }) => {
    if (isUpload || /\/revisions(\/commit)?$|\/catalog\//.test(path)) return false
    if (path.startsWith('/services/i')) return surface === 'workflows'
    if (path.startsWith('/testcases')) return surface === 'testsets'
    return path.startsWith(`/${surface}/`) || (path.startsWith(`/simple/${surface}/`) && method !== 'PUT')
  })
}

/** Applications and evaluators are answered by the code of workflows. */
export function isTwin(name: string): boolean {
  return (
    /^\w+ (\/simple)?\/(applications|evaluators)(\/|$)/.test(name) &&
    !name.endsWith('/simple/evaluators/templates')
  )
}
