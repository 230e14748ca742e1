/* SPDX-License-Identifier: MIT */
/*
 * test_smb2.c - the messages of SMB2, without a connection: against published ones (smb2_vectors.h); where none is, as
 * [MS-SMB2] 2.2 has them. What a server says is also cut, and changed.
 */
#include "tests/unit/util/cmocka_test.h"

#include "smb2.h"
#include "smb2_vectors.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

static const uint8_t id[SMB2_FILE_ID] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

/* A message in memory of just its length, so that a checker sees what is read behind it. To be freed. */
static uint8_t *exact(const uint8_t *octets, uint32_t length)
{
    uint8_t *copy = malloc(length ? length : 1);

    assert_non_null(copy);
    memcpy(copy, octets, length);
    return copy;
}

static void assert_octets(const uint8_t *octets, uint32_t length, const char *digits)
{
    uint8_t expected[MOST];

    assert_int_equal(vector_octets(digits, expected), length);
    assert_memory_equal(octets, expected, length);
}

/* ---- requests ---- */

/* Microsoft's client has a second context behind this one, for encryption: the only differences are its number, 2. */
static void negotiates_as_windows_does(void **state)
{
    static const uint16_t dialects[] = { 0x0202, 0x0210, 0x0300, 0x0302, 0x0311 };
    struct smb2_negotiate negotiate = {
        .dialects = dialects, .dialect_count = 5, .capabilities = 0x3f
    };
    struct smb2_request request;
    uint8_t expected[MOST];
    uint32_t length = vector_octets(negotiate_request, expected);

    (void)state;
    memcpy(negotiate.guid, expected + 76, sizeof(negotiate.guid));
    memcpy(negotiate.salt, expected + 126, sizeof(negotiate.salt));
    smb2_put_negotiate(&request, &negotiate);
    smb2_put_header(&request, &(struct smb2_header){ .charge = 1, .credits = 128, .id = 1 });
    assert_int_equal(request.length, 158);
    assert_true(length > request.length);
    assert_int_equal(expected[96], 2);
    expected[96] = 1;
    expected[68] = 1; /* and this one can sign */
    /* The process, of older dialects: [MS-SMB2] 2.2.1.2 has it reserved. */
    memset(expected + 32, 0, 4);
    assert_memory_equal(request.octets, expected, request.length);
}

static void before_3_1_1_there_is_no_context(void **state)
{
    static const uint16_t dialects[] = { 0x0300 };
    const struct smb2_negotiate negotiate = { .dialects = dialects, .dialect_count = 1 };
    struct smb2_request request;

    (void)state;
    smb2_put_negotiate(&request, &negotiate);
    assert_int_equal(request.length, 64 + 36 + 2);
    assert_octets(request.octets + 64 + 28, 10, "00000000000000000003");
}

static void sets_a_session_up_as_windows_does(void **state)
{
    struct smb2_request request;
    uint8_t expected[MOST];
    uint32_t length = vector_octets(session_request, expected);

    (void)state;
    smb2_put_session_setup(&request, expected + 88, (uint16_t)(length - 88));
    smb2_put_header(
        &request, &(struct smb2_header){ .command = 1, .charge = 1, .credits = 128, .id = 2 });
    /* The process is reserved, as above; this client knows no DFS. */
    assert_int_equal(expected[68], 1);
    expected[68] = 0;
    memset(expected + 32, 0, 4);
    assert_int_equal(request.length, length);
    assert_memory_equal(request.octets, expected, length);
}

static void connects_a_tree(void **state)
{
    struct smb2_request request;

    (void)state;
    assert_true(smb2_put_tree_connect(&request, "h", "pub"));
    assert_octets(
        request.octets + 64, request.length - 64, "0900000048000e005c005c0068005c00700075006200");
    assert_false(smb2_put_tree_connect(&request, "h", "\xc3"));
}

static void opens_a_file(void **state)
{
    struct smb2_request request;

    (void)state;
    assert_true(smb2_put_create(&request, "a/\xc3\xa9", false));
    assert_octets(request.octets + 64, request.length - 64,
        "3900000002000000"
        "00000000000000000000000000000000"
        "81001000" /* read data and attributes, synchronize */
        "00000000"
        "01000000" /* others may read */
        "01000000" /* has to be there */
        "44000000" /* no directory, from its begin to its end */
        "7800060000000000"
        "00000000"
        "61005c00e900");
    assert_true(smb2_put_create(&request, "b", true));
    assert_octets(request.octets + 64 + 24, 4, "82011000");
    assert_octets(request.octets + 64 + 32, 8, "0000000005000000");
}

static void a_name_is_one_here_and_there(void **state)
{
    struct smb2_request request;
    char longest[SMB2_NAME_MOST + 2];

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[SMB2_NAME_MOST] = '\0';
    assert_true(smb2_put_create(&request, longest, false));
    longest[SMB2_NAME_MOST] = 'x';
    longest[SMB2_NAME_MOST + 1] = '\0';
    assert_false(smb2_put_create(&request, longest, false));
    assert_false(smb2_put_create(&request, "", false));
    assert_false(smb2_put_create(&request, "a\\b", false));
    assert_false(smb2_put_create(&request, "\xff", false));
}

static void moves_data(void **state)
{
    struct smb2_piece piece = { .file = id,
        .offset = 0x100000000,
        .length = 0x20000,
        .channel = SMB2_RDMA_V1_INVALIDATE,
        .address = 0x1122334455667788,
        .token = 0x99aabbcc };
    struct smb2_request request;

    (void)state;
    smb2_put_read(&request, &piece);
    assert_octets(request.octets + 64, request.length - 64,
        "31005000000002000000000001000000"
        "0102030405060708090a0b0c0d0e0f10"
        "01000000020000000000000070001000"
        "8877665544332211ccbbaa9900000200");
    smb2_put_write(&request, &piece);
    assert_octets(request.octets + 64, request.length - 64,
        "31000000000000000000000001000000"
        "0102030405060708090a0b0c0d0e0f10"
        "02000000000002007000100000000000"
        "8877665544332211ccbbaa9900000200");
    piece.channel = SMB2_IN_MESSAGE;
    smb2_put_read(&request, &piece);
    assert_octets(request.octets + 64, request.length - 64,
        "31005000000002000000000001000000"
        "0102030405060708090a0b0c0d0e0f10"
        "0100000000000000000000000000000000");
    smb2_put_write(&request, &piece);
    assert_octets(request.octets + 64, request.length - 64,
        "31007000000002000000000001000000"
        "0102030405060708090a0b0c0d0e0f10"
        "00000000000000000000000000000000");
}

/* ---- answers ---- */

static void takes_what_windows_answers(void **state)
{
    struct smb2_negotiated negotiated;
    struct smb2_session session;
    struct smb2_header header;
    uint8_t octets[MOST];
    uint32_t length = vector_octets(negotiate_answer, octets);

    (void)state;
    assert_true(smb2_get_header(octets, length, &header));
    assert_int_equal(header.command, 0);
    assert_int_equal(header.flags, SMB2_FLAG_RESPONSE);
    assert_int_equal(header.id, 1);
    assert_true(smb2_get_negotiated(octets, length, &negotiated));
    assert_int_equal(negotiated.dialect, 0x0311);
    assert_int_equal(negotiated.capabilities, 0x2f);
    assert_int_equal(negotiated.security_mode, 1);
    assert_int_equal(negotiated.read_most, 8388608);
    assert_int_equal(negotiated.write_most, 8388608);

    length = vector_octets(session_answer, octets);
    assert_true(smb2_get_header(octets, length, &header));
    assert_int_equal(header.status, 0xC0000016);
    assert_int_equal(header.session, 0x100000000019);
    assert_true(smb2_get_session(octets, length, &session));
    assert_int_equal(session.token_length, 0xb3);
    assert_ptr_equal(session.token, octets + 72);
}

static void get_all(const uint8_t *message, uint32_t length)
{
    struct smb2_negotiated negotiated;
    struct smb2_session session;
    struct smb2_header header;
    struct smb2_moved moved;
    struct smb2_file file;
    struct smb2_tree tree;
    uint32_t written;

    if (!smb2_get_header(message, length, &header))
        return;
    smb2_get_negotiated(message, length, &negotiated);
    if (smb2_get_session(message, length, &session))
        assert_true(
            session.token >= message && session.token + session.token_length <= message + length);
    smb2_get_tree(message, length, &tree);
    smb2_get_created(message, length, &file);
    smb2_get_closed(message, length);
    if (smb2_get_read(message, length, SMB2_IN_MESSAGE, &moved))
        assert_true(moved.data >= message && moved.data + moved.length <= message + length);
    smb2_get_written(message, length, &written);
}

/* Every length, and every octet the largest or smallest number. */
static void nothing_leads_outside(void **state)
{
    static const char *const answers[] = { negotiate_answer, session_answer, last_session_answer };
    static const uint16_t sizes[] = { 65, 9, 16, 89, 60, 17 };
    uint8_t octets[MOST];

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        uint32_t length = vector_octets(answers[i], octets);

        for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
            octets[SMB2_HEADER] = (uint8_t)sizes[size];
            for (uint32_t part = 0; part <= length; part++) {
                uint8_t *copy = exact(octets, part);

                get_all(copy, part);
                for (uint32_t at = 0; at < 16 && part > SMB2_HEADER + 1 + at; at++) {
                    uint8_t *changed = copy + part - 1 - at;
                    uint8_t was = *changed;

                    *changed = 0xff;
                    get_all(copy, part);
                    *changed = was;
                }
                free(copy);
            }
        }
    }
}

static void data_is_in_the_message(void **state)
{
    uint8_t octets[SMB2_HEADER + 16 + 4] = { 0xfe, 'S', 'M', 'B', 64 };
    uint8_t *body = octets + SMB2_HEADER;
    struct smb2_moved moved;

    (void)state;
    body[0] = 17;
    body[2] = 80;
    body[4] = 4;
    body[8] = 7;
    assert_true(smb2_get_read(octets, sizeof(octets), SMB2_IN_MESSAGE, &moved));
    assert_int_equal(moved.length, 4);
    assert_ptr_equal(moved.data, octets + 80);
    body[4] = 5;
    assert_false(smb2_get_read(octets, sizeof(octets), SMB2_IN_MESSAGE, &moved));
    body[4] = 4;
    body[2] = 79; /* in the fixed part */
    assert_false(smb2_get_read(octets, sizeof(octets), SMB2_IN_MESSAGE, &moved));
    assert_true(smb2_get_read(octets, sizeof(octets), SMB2_RDMA_V1, &moved));
    assert_int_equal(moved.length, 7);
    assert_null(moved.data);
}

/* ---- sessions ---- */

static void signs_as_windows_does(void **state)
{
    static const char *const before[] = { negotiate_request, negotiate_answer, session_request,
        session_answer, last_session_request };
    uint8_t hash[SMB2_INTEGRITY] = { 0 }, session[SMB2_SESSION_KEY], key[SMB2_SESSION_KEY],
            octets[MOST];
    uint32_t length;

    (void)state;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        smb2_integrity_add(hash, octets, vector_octets(before[i], octets));
    assert_octets(hash, sizeof(hash),
        "0dd13628cc3ed218ef9df9772d436d0887ab9814bfae63a80aa845f36909db79"
        "28622dddad522d9751640a459762c5a9d6bb084cbb3ce6bdadef5d5bce3c6c01");
    vector_octets("270e1ba896585eeb7af3472d3b4c75a7", session);
    smb2_signing_key(0x0311, session, hash, key);
    assert_octets(key, sizeof(key), "73fe7a9a77bef0bde49c650d8ccb5f76");
    length = vector_octets(last_session_answer, octets);
    assert_true(smb2_signature_is_right(octets, length, key));
    for (uint32_t at = 0; at < length; at++) {
        octets[at] ^= 0x10;
        assert_false(smb2_signature_is_right(octets, length, key));
        octets[at] ^= 0x10;
    }
    octets[16] &= (uint8_t)~SMB2_FLAG_SIGNED;
    assert_false(smb2_signature_is_right(octets, length, key));
}

/* From the same article as the messages. */
static void signs_with_3_0_as_windows_does(void **state)
{
    uint8_t session[SMB2_SESSION_KEY], key[SMB2_SESSION_KEY];

    (void)state;
    vector_octets("7cd451825d0450d235424e44ba6e78cc", session);
    smb2_signing_key(0x0300, session, NULL, key);
    assert_octets(key, sizeof(key), "0b7e9c5cac36c0f6ea9ab275298cedce");
}

static void a_request_is_signed_with_its_data(void **state)
{
    static const uint8_t key[SMB2_SESSION_KEY] = { 1 };
    struct smb2_piece piece = { .file = id, .length = 5 };
    struct smb2_request request;

    (void)state;
    smb2_put_write(&request, &piece);
    smb2_put_header(&request, &(struct smb2_header){ .command = 9, .flags = SMB2_FLAG_SIGNED });
    smb2_sign(&request, "abcde", 5, key);
    memcpy(request.octets + request.length, "abcde", 5);
    assert_true(smb2_signature_is_right(request.octets, request.length + 5, key));
    request.octets[request.length + 4] ^= 1;
    assert_false(smb2_signature_is_right(request.octets, request.length + 5, key));
}

/* [MS-NLMP] 4.2.4.3 */
static const char challenge_digits[] =
    "4e544c4d53535000020000000c000c003800000033828ae20123456789abcdef0000000000000000"
    "2400240044000000060070170000000f53006500720076006500720002000c0044006f006d006100"
    "69006e0001000c0053006500720076006500720000000000";

static uint32_t get_challenge(uint8_t *octets)
{
    return vector_octets(challenge_digits, octets);
}

/* [MS-NLMP] 4.2.1 and 4.2.4 */
static void answers_a_challenge_as_windows_does(void **state)
{
    static const struct smb2_login login = {
        .user = "User", .password = "Password", .domain = "Domain"
    };
    uint8_t challenge[MOST], random[SMB2_NTLM_CHALLENGE], token[SMB2_TOKEN_MOST],
        key[SMB2_SESSION_KEY];
    uint32_t length = get_challenge(challenge);
    int answer;

    (void)state;
    memset(random, 0xaa, sizeof(random));
    answer = smb2_ntlm_answer(challenge, length, &login, 0, random, token, key);
    assert_int_equal(answer, 72 + 12 + 8 + 24 + 16 + 28 + 36 + 4);
    assert_octets(token + 28, 16,
        "0c000c0048000000"
        "0800080054000000");
    assert_octets(token + 72, 20,
        "44006f006d00610069006e00"
        "5500730065007200");
    assert_octets(token + 12, 16,
        "180018005c000000"
        "5400540074000000");
    assert_octets(token + 0x74, 16, "68cd0ab851e51c96aabc927bebef6a1c");
    assert_octets(key, sizeof(key), "8de40ccadbc14a82f15cb0ad0de95ca3");
}

static void a_server_that_says_the_time_gets_its_own(void **state)
{
    static const struct smb2_login login = { .user = "u", .password = "p", .domain = "" };
    static const uint8_t random[SMB2_NTLM_CHALLENGE];
    uint8_t octets[MOST], token[SMB2_TOKEN_MOST], key[SMB2_SESSION_KEY];
    struct smb2_session session;
    uint32_t length = vector_octets(session_answer, octets), at;

    (void)state;
    assert_true(smb2_get_session(octets, length, &session));
    for (at = 0; memcmp(session.token + at, "NTLMSSP", 8) != 0; at++)
        assert_true(at < session.token_length);
    assert_true(smb2_ntlm_answer(session.token + at, session.token_length - at, &login, 5, random,
                    token, key) > 0);
    assert_octets(token + 72 + 2 + 24 + 16 + 8, 8, "a1a1f5adcbaed001");
}

static void a_guest_has_no_answer(void **state)
{
    static const struct smb2_login login = { .user = NULL };
    static const uint8_t random[SMB2_NTLM_CHALLENGE];
    uint8_t challenge[MOST], token[SMB2_TOKEN_MOST];
    uint32_t length = get_challenge(challenge);

    (void)state;
    assert_int_equal(smb2_ntlm_answer(challenge, length, &login, 0, random, token, NULL), 73);
    assert_octets(token + 12, 16,
        "0100010048000000"
        "0000000049000000");
    assert_true(token[61] & 0x08); /* anonymous */
}

static void a_challenge_makes_sense(void **state)
{
    static const struct smb2_login login = { .user = "u", .password = "p", .domain = "" };
    static const uint8_t random[SMB2_NTLM_CHALLENGE];
    uint8_t challenge[MOST], token[SMB2_TOKEN_MOST], key[SMB2_SESSION_KEY];
    uint32_t length = get_challenge(challenge);

    (void)state;
    for (uint32_t part = 0; part < length; part++) {
        uint8_t *copy = exact(challenge, part);

        assert_int_equal(smb2_ntlm_answer(copy, part, &login, 0, random, token, key), 0);
        free(copy);
    }
    for (uint32_t at = 0; at < length; at++) {
        uint8_t *copy = exact(challenge, length);

        copy[at] = 0xff;
        assert_true(
            smb2_ntlm_answer(copy, length, &login, 0, random, token, key) <= SMB2_TOKEN_MOST);
        free(copy);
    }
}

static void the_longest_login_fits(void **state)
{
    static const uint8_t random[SMB2_NTLM_CHALLENGE];
    uint8_t challenge[48 + 1024] = { 0 }, token[SMB2_TOKEN_MOST], key[SMB2_SESSION_KEY];
    char name[258];
    struct smb2_login login = { .user = name, .password = name, .domain = name };

    (void)state;
    get_challenge(challenge);
    memset(challenge + 40, 0, 8);
    challenge[41] = 4; /* 1024 bytes of pairs, behind it */
    challenge[44] = 48;
    memset(challenge + 48, 0, 1024);
    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    assert_int_equal(smb2_ntlm_answer(challenge, sizeof(challenge), &login, 0, random, token, key),
        72 + 512 + 512 + 24 + 16 + 28 + 1024 + 4);
    name[256] = 'n';
    name[257] = '\0';
    assert_int_equal(
        smb2_ntlm_answer(challenge, sizeof(challenge), &login, 0, random, token, key), -1);
}

/* RFC 3629 */
static void utf_8_is_utf_16(void **state)
{
    static const char *const wrong[] = { "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xff" };
    uint8_t to[16];

    (void)state;
    assert_int_equal(smb2_utf16("a\xe2\x82\xac\xf0\x9f\x98\x80", to, 4), 8);
    assert_octets(to, 8, "6100ac203dd800de");
    assert_int_equal(smb2_utf16("a\xe2\x82\xac\xf0\x9f\x98\x80", to, 3), -1);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(smb2_utf16(wrong[i], to, 8), -1);
}

static void a_status_has_its_name(void **state)
{
    char text[64];

    (void)state;
    assert_string_equal(
        smb2_status_text(0xC00000CC, text, sizeof(text)), "STATUS_BAD_NETWORK_NAME");
    assert_string_equal(smb2_status_text(0xC0FFEE00, text, sizeof(text)), "status 0xc0ffee00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiates_as_windows_does),
        cmocka_unit_test(before_3_1_1_there_is_no_context),
        cmocka_unit_test(sets_a_session_up_as_windows_does),
        cmocka_unit_test(connects_a_tree),
        cmocka_unit_test(opens_a_file),
        cmocka_unit_test(a_name_is_one_here_and_there),
        cmocka_unit_test(moves_data),
        cmocka_unit_test(takes_what_windows_answers),
        cmocka_unit_test(nothing_leads_outside),
        cmocka_unit_test(data_is_in_the_message),
        cmocka_unit_test(signs_as_windows_does),
        cmocka_unit_test(signs_with_3_0_as_windows_does),
        cmocka_unit_test(a_request_is_signed_with_its_data),
        cmocka_unit_test(answers_a_challenge_as_windows_does),
        cmocka_unit_test(a_server_that_says_the_time_gets_its_own),
        cmocka_unit_test(a_guest_has_no_answer),
        cmocka_unit_test(a_challenge_makes_sense),
        cmocka_unit_test(the_longest_login_fits),
        cmocka_unit_test(utf_8_is_utf_16),
        cmocka_unit_test(a_status_has_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
