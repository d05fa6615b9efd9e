import { execFileSync } from 'node:child_process'
import type { BundledPackage } from './bundled-packages.ts'

/** A document of CycloneDX as `npm sbom` prints it: the members that are read here. */
interface Bill {
  readonly metadata: { readonly component: object; readonly [member: string]: unknown }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
  readonly [member: string]: unknown
}

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
  readonly [member: string]: unknown
}

/**
 * The packages of an installation, in the format CycloneDX: what npm says of the lock file, without the packages that only a build and its tests
 * need. A package in a bundle has the property `branchpoint:bundle` for each bundle that holds it.
 */
export function softwareBill(packages: readonly BundledPackage[]): Bill {
  const bundled = new Map(packages.map((it) => [refOf(it), it]))
  const all = npmBill()
  const components = all.components.flatMap((component) => {
    const { properties = [] } = component
    const isDevelopment = properties.some((it) => it.name === DEVELOPMENT && it.value === 'true')
    const bundles = bundled.get(refOf(component))?.bundles
    // The folder `scripts` is a workspace, which npm lists like a package.
    if (!bundles)
      return isDevelopment || component['bom-ref'].startsWith('branchpoint-proofs@') ? [] : [component]
    const places = bundles.map((value) => ({ name: 'branchpoint:bundle', value }))
    const kept = properties.filter((it) => it.name !== DEVELOPMENT)
    return [{ ...component, scope: 'required', properties: [...kept, ...places] }]
  })
  const refs = new Set(components.map((it) => it['bom-ref']))
  const listed = new Set(components.map(refOf))
  const missing = [...bundled.keys()].filter((ref) => !listed.has(ref))
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}.`)
  const [root, ...others] = all.dependencies
  const dependencies = [...(root ? [root] : []), ...others.filter(({ ref }) => refs.has(ref))].map(
    ({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((it) => refs.has(it)) }),
  )
  // npm takes the name of the folder.
  const metadata = {
    ...all.metadata,
    component: { ...all.metadata.component, type: 'application', name: 'branchpoint-server' },
  }
  return { ...all, metadata, components, dependencies }
}

const DEVELOPMENT = 'cdx:npm:package:development'

function refOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name}@${version}`
}

function npmBill(): Bill {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(text) as Bill // as npm documents it
}
