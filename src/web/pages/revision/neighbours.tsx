import { LinkButton } from '../../parts/button/link-button.tsx'
import { places } from '../../shell/places.ts'
import type { NearVersions } from './use-revision.ts'

export interface NeighboursProps extends NearVersions {
  readonly slug: string
  readonly variant: string
  /** What of the page is shown stays shown. */
  readonly search: Readonly<Record<string, string | undefined>>
}

/** To the versions before and after. */
export function Neighbours({ slug, variant, previous, next, search }: NeighboursProps) {
  const { view } = search
  const kept: Record<string, string> = view === undefined ? {} : { view }
  return (
    <>
      <LinkButton
        kind="quiet"
        to={places.version(slug, variant, previous)}
        search={kept}
        refusal={previous === undefined ? 'It is the first version of its line.' : undefined}
      >
        ‹ {previous === undefined ? 'First' : `v${previous}`}
      </LinkButton>
      <LinkButton
        kind="quiet"
        to={places.version(slug, variant, next)}
        search={kept}
        refusal={next === undefined ? 'It is the newest version of its variant.' : undefined}
      >
        {next === undefined ? 'Newest' : `v${next}`} ›
      </LinkButton>
    </>
  )
}
