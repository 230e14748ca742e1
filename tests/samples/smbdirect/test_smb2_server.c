/* SPDX-License-Identifier: MIT */
/*
 * test_smb2_server.c - the server's side of NTLMSSP, against what [MS-NLMP] 4.2.4 publishes and against the client's
 * side; names in UTF-16. What a client says is also cut, and changed.
 */
#include "tests/unit/util/cmocka_test.h"

#include "smb2_octets.h"
#include "smb2_server.h"
#include "smb2_vectors.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t published_challenge[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
static const struct smb2_login published_login = { .user = "User", .password = "Password" };

/* The answer with the domain, the user and the version 2 response of [MS-NLMP] 4.2.4. Returns its length. */
static uint32_t published_answer(uint8_t *token)
{
    return vector_octets("4e544c4d535350000300000000000000500000005400540064000000"
                         "0c000c00480000000800080054000000000000005c000000"
                         "000000005c000000000000000000000000000000"
                         "44006f006d00610069006e00"
                         "5500730065007200"
                         "0000000000000000"
                         "68cd0ab851e51c96aabc927bebef6a1c"
                         "01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000"
                         "02000c0044006f006d00610069006e00"
                         "01000c005300650072007600650072000000000000000000",
        token);
}

static enum smb2_ntlm_verdict check(
    const uint8_t *token, uint32_t length, const struct smb2_login *login, uint8_t *key)
{
    /* In memory of just its length, so that a checker sees what is read behind it. */
    uint8_t *exact = malloc(length ? length : 1);
    enum smb2_ntlm_verdict verdict;

    assert_non_null(exact);
    memcpy(exact, token, length);
    verdict = smb2_ntlm_check(exact, length, published_challenge, login, key);
    free(exact);
    return verdict;
}

static void knows_the_published_user(void **state)
{
    const struct smb2_login capitals = { .user = "USER", .password = "Password" };
    uint8_t token[512], key[SMB2_SESSION_KEY], expected[SMB2_SESSION_KEY];
    uint32_t length = published_answer(token);

    (void)state;
    assert_int_equal(length, 100 + 84);
    vector_octets("8de40ccadbc14a82f15cb0ad0de95ca3", expected);
    assert_int_equal(check(token, length, &published_login, key), SMB2_NTLM_USER);
    assert_memory_equal(key, expected, sizeof(key));
    assert_int_equal(check(token, length, &capitals, key), SMB2_NTLM_USER);
}

static void knows_nobody_else(void **state)
{
    const struct smb2_login others[] = { { .user = "User", .password = "password" },
        { .user = "Users", .password = "Password" }, { .user = "Use", .password = "Password" },
        { .user = NULL } };
    uint8_t token[512], key[SMB2_SESSION_KEY];
    uint32_t length = published_answer(token);

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(check(token, length, &others[i], key), SMB2_NTLM_REFUSED);
    put16(token + 20, 43); /* less than a response of version 2 has */
    assert_int_equal(check(token, length, &published_login, key), SMB2_NTLM_REFUSED);
}

static void nothing_leads_outside(void **state)
{
    uint8_t token[512], key[SMB2_SESSION_KEY];
    uint32_t length = published_answer(token);

    (void)state;
    for (uint32_t cut = 0; cut < length; cut++)
        assert_int_not_equal(check(token, cut, &published_login, key), SMB2_NTLM_USER);
    for (uint32_t at = 0; at < 64; at++) {
        published_answer(token);
        token[at] ^= 0xff;
        check(token, length, &published_login, key);
    }
    /* Every octet of the response counts. */
    for (uint32_t at = 100; at < length; at++) {
        published_answer(token);
        token[at] ^= 1;
        assert_int_equal(check(token, length, &published_login, key), SMB2_NTLM_REFUSED);
    }
}

static void both_sides_agree(void **state)
{
    const struct smb2_login login = {
        .user = "\xc3\xa4nn", .password = "p\xc3\xa4ss", .domain = "d"
    };
    uint8_t begin[SMB2_TOKEN_MOST], challenge[SMB2_TOKEN_MOST], answer[SMB2_TOKEN_MOST];
    uint8_t random[SMB2_NTLM_CHALLENGE] = { 5 }, key[SMB2_SESSION_KEY], other[SMB2_SESSION_KEY];
    uint16_t length = smb2_ntlm_begin(begin);
    int answered;

    (void)state;
    length = smb2_ntlm_challenge(
        begin, length, published_challenge, 77, "host-of-a-long-name.example", challenge);
    assert_int_equal(length, 48 + 30 + 4 + 30 + 4 + 30 + 4 + 8 + 4);
    answered = smb2_ntlm_answer(challenge, length, &login, 0, random, answer, key);
    assert_true(answered > 0);
    assert_int_equal(check(answer, (uint32_t)answered, &login, other), SMB2_NTLM_USER);
    assert_memory_equal(key, other, sizeof(key));
    for (uint32_t cut = 0; cut < 16; cut++)
        assert_int_equal(
            smb2_ntlm_challenge(begin, cut, published_challenge, 77, "h", challenge), 0);
    begin[12] &= 0xfe; /* no Unicode */
    assert_int_equal(smb2_ntlm_challenge(begin, 32, published_challenge, 77, "h", challenge), 0);
}

static void utf_16_is_utf_8(void **state)
{
    static const uint8_t right[] = { 'a', 0, 0xac, 0x20, 0x3d, 0xd8, 0x00, 0xde };
    static const uint8_t wrong[][4] = { { 0, 0, 'a', 0 }, { 0x3d, 0xd8, 'a', 0 },
        { 0x00, 0xde, 'a', 0 }, { 0x3d, 0xd8, 0x3d, 0xd8 } };
    char to[16];

    (void)state;
    assert_int_equal(smb2_utf8(right, sizeof(right), to, 9), 8);
    assert_string_equal(to, "a\xe2\x82\xac\xf0\x9f\x98\x80");
    for (uint32_t size = 0; size < 9; size++)
        assert_int_equal(smb2_utf8(right, sizeof(right), to, size), -1);
    assert_int_equal(smb2_utf8(right, 3, to, sizeof(to)), -1);
    assert_int_equal(smb2_utf8(right, 6, to, sizeof(to)), -1);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(smb2_utf8(wrong[i], 4, to, sizeof(to)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_published_user),
        cmocka_unit_test(knows_nobody_else),
        cmocka_unit_test(nothing_leads_outside),
        cmocka_unit_test(both_sides_agree),
        cmocka_unit_test(utf_16_is_utf_8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
