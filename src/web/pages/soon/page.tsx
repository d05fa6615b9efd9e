import { Page } from '../../parts/page/page.tsx'
import { Empty } from '../../parts/states/states.tsx'

/** How to propose a change today. */
export function Review() {
  return (
    <Page crumbs={[{ label: 'Proposals' }]}>
      <Empty command={'git push origin HEAD:refs/heads/my-change'}>
        To propose a change, push a variant, compare it with another one here, and merge it.
      </Empty>
    </Page>
  )
}
