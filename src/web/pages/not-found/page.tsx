import { Link, useLocation } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { Empty } from '../../parts/states/empty.tsx'

/** An address that no page has. */
export function NotFound() {
  const { pathname } = useLocation()
  return (
    <Page crumbs={[{ label: 'No such page' }]}>
      <Empty action={<Link to="/">Go to the start</Link>}>
        Nothing is at <code>{pathname}</code>. The search finds artifacts by their names and texts.
      </Empty>
    </Page>
  )
}
