import { Link, useLocation } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { Empty } from '../../parts/states/states.tsx'

/** An address that no page has. */
export function NotFound() {
  const { pathname } = useLocation()
  const words = pathname.split('/').filter(Boolean).at(-1) ?? ''
  return (
    <Page crumbs={[{ label: 'No such page' }]}>
      <Empty
        action={
          <>
            <Link to="/" search={{ q: words }}>
              Search for “<bdi>{words}</bdi>”
            </Link>{' '}
            <Link to="/">Go to the start</Link>
          </>
        }
      >
        There is no page at <code>{pathname}</code>.
      </Empty>
    </Page>
  )
}
