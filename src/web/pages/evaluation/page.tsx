import { useParams } from '@tanstack/react-router'
import { ComparePage } from './compare/compare-page.tsx'
import { RunPage } from './run-page.tsx'

/** `/eval/<id>`: one run. `/eval/<id>...<id>`: two side by side. */
export default function EvaluationPage() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const [left = '', right] = id.split('...')
  return right === undefined ? (
    <RunPage key={id} id={left} />
  ) : (
    <ComparePage key={id} left={left} right={right} />
  )
}
