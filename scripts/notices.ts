import { writeFileSync } from 'node:fs'
import { bundledPackages } from './notices/bundled-packages.ts'
import { noticesText } from './notices/notices-text.ts'
import { softwareBill } from './notices/software-bill.ts'

/**
 * Writes THIRD_PARTY_NOTICES, the licences of what is in the bundles, and sbom.cdx.json, which lists the packages of an installation: those in
 * the bundles and those that npm installs. The build calls it once the bundles are made.
 */
const packages = bundledPackages()
writeFileSync('THIRD_PARTY_NOTICES', noticesText(packages))
writeFileSync('sbom.cdx.json', `${JSON.stringify(softwareBill(packages), null, 2)}\n`)
