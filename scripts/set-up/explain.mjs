// What a failure of npm or of the file system means, in a line with what to do about it.

const causes = [
  {
    codes: ["ENOSPC", "EDQUOT"],
    says: ({ folder, freeMb }) =>
      `the disk is full${freeMb === undefined ? "" : ` (${freeMb} MB are free)`}: a set-up takes about 700 MB in ${folder}`,
  },
  {
    codes: ["EROFS", "EACCES", "EPERM"],
    says: ({ folder }) =>
      `${folder} cannot be written by this user: take a copy of your own (cp -r ${folder} ~/svc), or ask its owner to run: npm run bootstrap`,
  },
  {
    codes: [
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
    ],
    says: () =>
      "the certificate of what answered is not known here: when a proxy signs with an authority of its own, name that one's file: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem",
  },
  {
    codes: [
      "ENOTFOUND",
      "EAI_AGAIN",
      "ECONNREFUSED",
      "ECONNRESET",
      "ETIMEDOUT",
      "ENETUNREACH",
      "EHOSTUNREACH",
      "ERR_SOCKET_TIMEOUT",
      "E407",
    ],
    says: ({ proxy }) =>
      proxy === undefined
        ? "the package registry cannot be reached: look at the network; behind a proxy: export HTTPS_PROXY=http://<host>:<port>"
        : `the package registry cannot be reached through the proxy ${withoutPassword(proxy)}: is it right, and does it want a name and password (http://<user>:<password>@<host>:<port>)?`,
  },
]

/** Undefined for what is none of these; npm has said then what it is. */
export function explain(output, place) {
  const words = new Set(output.match(/\b[A-Z][A-Z0-9_]{3,}\b/g))
  return causes.find(({ codes }) => codes.some((code) => words.has(code)))?.says(place)
}

function withoutPassword(proxy) {
  return proxy.replace(/\/\/[^@/]*@/, "//***@")
}
