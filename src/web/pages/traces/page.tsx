import { useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { TraceFilters } from './trace-filters.tsx'
import { TraceList } from './trace-list.tsx'
import { readFilters } from './trace-question.ts'

/** `/trace`: what was run, the newest first, narrowed as the address says. */
export default function TracesPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const filters = readFilters(search)
  return (
    <Page crumbs={[{ label: 'Traces' }]} wide>
      <TraceFilters filters={filters} />
      <TraceList key={JSON.stringify(filters)} filters={filters} />
    </Page>
  )
}
