import { useNavigate, useSearch } from '@tanstack/react-router'
import { Button } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { EvaluationFilters } from './evaluation-filters.tsx'
import { EvaluationList } from './evaluation-list.tsx'
import { StartEvaluation } from './start-evaluation.tsx'

const STATES = ['running', 'finished', 'interrupted'] as const

/** Every run of a testset, the newest first, and a form that starts one. */
export default function EvaluationsPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const refusal = useRefusal('invoke')
  const { new: isNew, application } = search
  const state = STATES.find((it) => it === search['state'])
  const open = (): void =>
    void navigate({ to: places.evaluations(), search: { ...search, new: '1', prompt: application } as never })
  const close = (): void => {
    const { state: kept, application: of } = search
    void navigate({ to: places.evaluations(), search: { state: kept, application: of } as never })
  }
  useCommands([{ id: 'new', title: 'Start an evaluation', keys: 'n', refusal, run: open }])
  const to = places.evaluations()
  return (
    <Page
      crumbs={[{ label: 'Runs' }]}
      wide
      actions={
        <Button kind="primary" needs="invoke" onClick={open}>
          Start an evaluation
        </Button>
      }
    >
      <LinkTabs
        label="States"
        tabs={[
          { label: 'All', to, search: { application }, isHere: state === undefined },
          ...STATES.map((it) => ({
            label: it[0]?.toUpperCase() + it.slice(1),
            to,
            search: { application, state: it },
            isHere: state === it,
          })),
        ]}
      />
      <EvaluationFilters application={application ?? ''} state={state} />
      <EvaluationList application={application} state={state} start={open} />
      {isNew !== undefined && <StartEvaluation search={search} close={close} />}
    </Page>
  )
}
